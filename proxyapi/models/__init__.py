"""The database models of everything that concerns the upstream, one noun in each file."""

from __future__ import annotations

from proxyapi.api_event_types import ApiEventType
from proxyapi.models.account import Account, AccountPlan
from proxyapi.models.api_call import ApiCall, CallOutcome
from proxyapi.models.api_event import ApiEvent, event_recorded
from proxyapi.models.api_key import ApiKey, KeyScope
from proxyapi.models.auto_top_up import AutoTopUp, CreditPack, TopUpType
from proxyapi.models.balance_rebase import BalanceRebase
from proxyapi.models.character_genres import CharacterGenres
from proxyapi.models.charge import Charge, ChargeState
from proxyapi.models.cloned_voice import ClonedVoice
from proxyapi.models.database_epoch import DatabaseEpoch
from proxyapi.models.draft import Draft, lock_draft
from proxyapi.models.gateway_request import GatewayRequest, PolledAnswer, Quote, StoredAnswer
from proxyapi.models.idea import Idea, IdeaRefresh
from proxyapi.models.job import VIDEO_KINDS, Job, JobOrigin, JobState
from proxyapi.models.job_part import JobPart
from proxyapi.models.ledger_conflict import LedgerConflict
from proxyapi.models.ledger_entry import LedgerEntry, MatchConfidence
from proxyapi.models.ledger_mirror import LedgerMirror
from proxyapi.models.ledger_sums import (
    DailyBreakdown,
    DailyRollup,
    DailyTotal,
    DailyTotalByContentType,
    DailyTotalByLabel,
    DailyTotalByMember,
    DailyTotalByOperation,
    MonthlyTotalByOperation,
    StaleLedgerDay,
)
from proxyapi.models.monthly_price_count import MonthlyPriceCount
from proxyapi.models.page_read import PageRead, PageReadState
from proxyapi.models.render_durations import RenderDurations
from proxyapi.models.script_version import ScriptOrigin, ScriptVersion
from proxyapi.models.service_quarter import ServiceQuarter
from proxyapi.models.spending_obstacle import (
    SpendingObstacle,
    annotate_spending_obstacle,
    spendable_accounts,
)
from proxyapi.models.stored_file import StoredFile
from proxyapi.models.storyboard import (
    Storyboard,
    StoryboardCopy,
    StoryboardMode,
    StoryboardScene,
)
from proxyapi.models.tenant import Tenant
from proxyapi.models.token import Token, TokenState
from proxyapi.models.top_up_change import TopUpChange, TopUpChangeState
from proxyapi.models.upload import Upload
from proxyapi.models.voice_slots import VoiceSlots
from proxyapi.operations import JobKind
