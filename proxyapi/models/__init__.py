"""The tables of everything that touches the upstream, one noun a file."""

from __future__ import annotations

from proxyapi.models.account import Account, Plan
from proxyapi.models.call import Call, CallOutcome
from proxyapi.models.charge import Charge, ChargeState
from proxyapi.models.database_epoch import DatabaseEpoch
from proxyapi.models.day_feature import DayFeature
from proxyapi.models.day_flow import DayFlow
from proxyapi.models.day_member import DayMember
from proxyapi.models.day_row import DayRow
from proxyapi.models.day_sum import DaySum
from proxyapi.models.day_total import DayTotal
from proxyapi.models.entry import Confidence, Entry
from proxyapi.models.job import Job, JobKind, JobState
from proxyapi.models.key import Key
from proxyapi.models.ledger import Ledger
from proxyapi.models.month_cost import MonthCost
from proxyapi.models.month_feature import MonthFeature
from proxyapi.models.pace import Pace
from proxyapi.models.rewrite import Rewrite
from proxyapi.models.token import Token, TokenState
from proxyapi.models.top_up import CreditPack, TopUp, TopUpType
from proxyapi.models.top_up_change import TopUpChange, TopUpChangeState
from proxyapi.models.upload import Upload
from proxyapi.models.vault import Vault

__all__ = [
    "Account",
    "Call",
    "CallOutcome",
    "Charge",
    "ChargeState",
    "Confidence",
    "CreditPack",
    "DatabaseEpoch",
    "DayFeature",
    "DayFlow",
    "DayMember",
    "DayRow",
    "DaySum",
    "DayTotal",
    "Entry",
    "Job",
    "JobKind",
    "JobState",
    "Key",
    "Ledger",
    "MonthCost",
    "MonthFeature",
    "Pace",
    "Plan",
    "Rewrite",
    "Token",
    "TokenState",
    "TopUp",
    "TopUpChange",
    "TopUpChangeState",
    "TopUpType",
    "Upload",
    "Vault",
]
