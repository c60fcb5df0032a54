"""The tables of everything that touches the upstream, one noun a file."""

from __future__ import annotations

from proxyapi.models.account import Account, AccountPlan
from proxyapi.models.api_call import ApiCall, CallOutcome
from proxyapi.models.api_key import ApiKey
from proxyapi.models.auto_top_up import AutoTopUp, CreditPack, TopUpType
from proxyapi.models.balance_rebase import BalanceRebase
from proxyapi.models.charge import Charge, ChargeState
from proxyapi.models.daily_breakdown import DailyBreakdown
from proxyapi.models.daily_rollup import DailyRollup
from proxyapi.models.daily_total import DailyTotal
from proxyapi.models.daily_total_by_label import DailyTotalByLabel
from proxyapi.models.daily_total_by_member import DailyTotalByMember
from proxyapi.models.daily_total_by_operation import DailyTotalByOperation
from proxyapi.models.database_epoch import DatabaseEpoch
from proxyapi.models.job import Job, JobState
from proxyapi.models.ledger_conflict import LedgerConflict
from proxyapi.models.ledger_entry import LedgerEntry, MatchConfidence
from proxyapi.models.ledger_mirror import LedgerMirror
from proxyapi.models.monthly_price_count import MonthlyPriceCount
from proxyapi.models.monthly_total_by_operation import MonthlyTotalByOperation
from proxyapi.models.render_durations import RenderDurations
from proxyapi.models.stale_ledger_day import StaleLedgerDay
from proxyapi.models.tenant import Tenant
from proxyapi.models.token import Token, TokenState
from proxyapi.models.top_up_change import TopUpChange, TopUpChangeState
from proxyapi.models.upload import Upload
from proxyapi.operations import JobKind
