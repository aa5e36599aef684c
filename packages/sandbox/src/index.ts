export type { BraintreeConfig, BraintreeHandle } from './braintree/server/server.ts'
export type { ControlRoom } from './control-room/control-room.ts'
export { Clock, type Duration, type Timeline } from './core/clock/clock.ts'
export type { FailedJob } from './core/clock/failed-jobs.ts'
export type {
  Delivery,
  DeliveryAttempt,
  DeliverySwitches,
  Outbox,
  OutgoingWebhook,
} from './core/outbox.ts'
export type { SandboxSnapshot } from './core/store/snapshot.ts'
export type { StoreSnapshot } from './core/store/store.ts'
export type { CallTrouble, Provider, Trouble } from './core/trouble.ts'
export {
  type BraintreeStart,
  type Sandbox,
  type SandboxOptions,
  type StripeStart,
  startSandbox,
} from './start-sandbox.ts'
export type { SeedPrice, StripeHandle, StripeSdkConfig } from './stripe/server/handle.ts'
export type { DunningOptions, StripeOptions } from './stripe/server/options.ts'
export type { WireObject } from './stripe/wire/wire-object.ts'
