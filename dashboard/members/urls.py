"""URLs of the team's members."""

from __future__ import annotations

from django.urls import path

from dashboard.members.views import (
    dialogs,
    invitations,
    joining,
    members,
    ownership,
    removal,
    roles,
)

urlpatterns = [
    path("members/", members.members, name="members"),
    path("members/time-zone/", members.update_time_zone, name="team-time-zone"),
    path("members/<int:membership_id>/roles/", roles.update_role, name="member-roles"),
    path(
        "members/<int:membership_id>/roles/<str:role>/",
        roles.restore_role,
        name="member-role-restorations",
    ),
    path(
        "members/<int:membership_id>/removals/",
        removal.RemoveMember.as_view(),
        name="member-removals",
    ),
    path(
        "members/<int:membership_id>/deactivations/",
        dialogs.DeactivateMember.as_view(),
        name="member-deactivations",
    ),
    path(
        "members/<int:membership_id>/charge-pauses/",
        dialogs.PauseCharges.as_view(),
        name="member-charge-pauses",
    ),
    path(
        "members/<int:membership_id>/charge-resumptions/",
        dialogs.resume_charges,
        name="member-charge-resumptions",
    ),
    path(
        "members/<int:membership_id>/reactivations/",
        dialogs.ReactivateMember.as_view(),
        name="member-reactivations",
    ),
    path(
        "members/<int:membership_id>/handovers/",
        removal.HandOverWork.as_view(),
        name="member-handovers",
    ),
    path(
        "members/<int:membership_id>/token-requests/",
        members.request_token,
        name="member-token-requests",
    ),
    path(
        "members/<int:membership_id>/second-factor-resets/",
        dialogs.ResetSecondFactor.as_view(),
        name="member-second-factor-resets",
    ),
    path(
        "members/<int:membership_id>/provider-link-removals/",
        dialogs.RemoveProviderLink.as_view(),
        name="member-provider-link-removals",
    ),
    path("members/<int:membership_id>/sign-outs/", removal.sign_out, name="member-sign-outs"),
    path("members/ownership/", ownership.TransferOwnership.as_view(), name="ownership-transfers"),
    path(
        "members/ownership/<uuid:transfer_id>/acceptances/",
        ownership.AcceptOwnership.as_view(),
        name="ownership-acceptances",
    ),
    path(
        "members/ownership/<uuid:transfer_id>/refusals/",
        ownership.decline,
        name="ownership-refusals",
    ),
    path(
        "members/ownership/<uuid:transfer_id>/withdrawals/",
        ownership.take_back,
        name="ownership-withdrawals",
    ),
    path("members/invitations/", invitations.InvitePeople.as_view(), name="invitations"),
    path(
        "members/invitations/<uuid:invitation_id>/mails/",
        invitations.send_again,
        name="invitation-mails",
    ),
    path(
        "members/invitations/<uuid:invitation_id>/revocations/",
        invitations.revoke,
        name="invitation-revocations",
    ),
    path(
        "members/invitations/<uuid:invitation_id>/restorations/",
        invitations.restore,
        name="invitation-restorations",
    ),
    path("join/", joining.join, name="join"),
    path("join/acceptances/", joining.accept, name="join-acceptances"),
    path("join/<str:key>/", joining.open_invitation, name="invitation"),
]
