"""Who has a second factor."""

from __future__ import annotations

from allauth.mfa.models import Authenticator

from dashboard.shared.second_factor import SecondFactor, has_second_factor, load_second_factors


def add_authenticator(member, kind):
    return Authenticator.objects.create(user=member.user, type=kind, data={})


def test_an_app_or_a_passkey_is_a_second_factor_and_recovery_codes_alone_are_none(
    mira, jonas, priya
):
    add_authenticator(mira, Authenticator.Type.TOTP)
    add_authenticator(jonas, Authenticator.Type.WEBAUTHN)
    add_authenticator(priya, Authenticator.Type.RECOVERY_CODES)

    assert [has_second_factor(member.user) for member in (mira, jonas, priya)] == [
        True,
        True,
        False,
    ]


def test_a_table_reads_the_factors_of_all_its_people_at_once(
    mira, jonas, priya, django_assert_num_queries
):
    add_authenticator(mira, Authenticator.Type.WEBAUTHN)
    add_authenticator(mira, Authenticator.Type.TOTP)
    add_authenticator(jonas, Authenticator.Type.TOTP)

    with django_assert_num_queries(1):
        factors = load_second_factors([mira.user_id, jonas.user_id, priya.user_id])

    assert factors == {
        mira.user_id: SecondFactor.PASSKEY,
        jonas.user_id: SecondFactor.APP,
        priya.user_id: SecondFactor.OFF,
    }
