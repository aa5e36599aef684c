export type { AlertOptions, UsageAlert } from './alerts/alerts.ts'
export type { Clock, Logger } from './context.ts'
export { createGate } from './create-gate.ts'
export { refreshPlans } from './entitlements/billing-plans.ts'
export { GateUnavailable, InvalidUse } from './errors.ts'
export type { Gate, MeterUsage, RecordOptions } from './gate.ts'
export type { AnyGateOptions, AssignedPlan, GateOptions } from './options.ts'
export {
  type Meter,
  type MeterKind,
  type MeterOptions,
  meter,
  type OverQuota,
} from './plans/meter.ts'
export { type Plan, type PlanOptions, type PlanPrices, plan } from './plans/plan.ts'
export type { QuotaInterval } from './plans/rule.ts'
export type { BillingPeriod } from './plans/window.ts'
export type { Reservation, ReserveOptions, Settlement } from './quotas/reservations.ts'
export type { GateRedisClient } from './rates/shared.ts'
export type {
  GateBilling,
  GateCaller,
  GateOAuth,
  GateSubscription,
  PlanLimits,
} from './sources.ts'
export type { Override } from './storage/overrides.ts'
export type { Subject } from './subject.ts'
export type { RefusalReason, Verdict } from './verdict.ts'
