export type { BraintreeConfig, BraintreeHandle } from './braintree/server.ts'
export { Clock, type Duration, type Timeline } from './clock.ts'
export type { ControlRoom } from './control-room.ts'
export type { FailedJob } from './failed-jobs.ts'
export type {
  Delivery,
  DeliveryAttempt,
  DeliverySwitches,
  Outbox,
  OutgoingWebhook,
} from './outbox.ts'
export type { SandboxSnapshot } from './snapshot.ts'
export {
  type BraintreeStart,
  type Sandbox,
  type SandboxOptions,
  type StripeStart,
  startSandbox,
} from './start-sandbox.ts'
export type { StoreSnapshot } from './store.ts'
export type { SeedPrice, StripeHandle, StripeSdkConfig } from './stripe/handle.ts'
export type { DunningOptions, StripeOptions } from './stripe/options.ts'
export type { WireObject } from './stripe/wire-object.ts'
export type { CallTrouble, Provider, Trouble } from './trouble.ts'
