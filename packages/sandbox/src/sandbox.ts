import type { BraintreeHandle } from './braintree/server/handle.ts'
import type { BraintreeOptions } from './braintree/server/options.ts'
import type { ControlRoom } from './control-room/control-room.ts'
import type { Duration } from './core/clock/clock.ts'
import type { FailedJob } from './core/clock/failed-jobs.ts'
import type { Delivery, DeliverySwitches } from './core/outbox.ts'
import type { SandboxSnapshot } from './core/store/snapshot.ts'
import type { CallFate, CallTrouble, PendingTrouble } from './core/trouble.ts'
import type { SandboxFixtures } from './fixtures/fixtures.ts'
import type { StripeHandle } from './stripe/server/handle.ts'
import type { StripeOptions } from './stripe/server/options.ts'

/** A provider of this sandbox, as deliveries, failed jobs and trouble call it. */
export type Provider = 'stripe' | 'braintree'

/** What `startSandbox()` takes. A provider that is not asked for is not started. */
export interface SandboxOptions {
  /** `true` starts Stripe as it is out of the box; an object says what to change. */
  readonly stripe?: boolean | StripeOptions
  /** `true` starts Braintree as it is out of the box; an object says what to change. */
  readonly braintree?: boolean | BraintreeOptions
  /** Where the clock starts. Without it: the moment of the call, read this once. */
  readonly now?: Date
  /** The same seed and the same calls give the same ids. 1 unless told. */
  readonly seed?: number
  /**
   * A file the state is read from, when it exists, and kept in, with a journal beside it: a process that
   * is killed loses nothing it has answered. Its clock wins over `now`.
   */
  readonly stateFile?: string
  /** A state taken before with `snapshot()`. It wins over `stateFile`, and its clock over `now`. */
  readonly snapshot?: SandboxSnapshot
  /** What a new sandbox begins with. Applied when there is no state yet, and again by `reset()`. */
  readonly fixtures?: SandboxFixtures
  /** A web page to watch and move it all. */
  readonly controlRoom?: boolean | ControlRoomStart
  /** How webhooks are sent, where it should not be as at the providers. */
  readonly outbox?: SandboxOutboxOptions
  /**
   * Names by which the providers may be called besides 127.0.0.1, `localhost` and others that no stranger can own: of a
   * proxy, a tunnel, a network. Calls by any other name get 421. The control room stays with this machine.
   */
  readonly allowedHosts?: readonly string[]
}

/** Where the control room listens. */
export interface ControlRoomStart {
  /** 0, the default, takes a free port. */
  readonly port?: number
}

/** How webhooks are sent, where it should not be as at the providers. */
export interface SandboxOutboxOptions {
  /** Seconds from one attempt to the next; after the last the delivery has failed. */
  readonly retrySchedules?: { readonly [P in Provider]?: readonly number[] }
  /** Real milliseconds a receiver may take; 10,000 unless told. */
  readonly timeoutMs?: number
  /** How many deliveries are kept for inspection; 20,000 unless told. */
  readonly kept?: number
}

/**
 * Both providers, their one clock, and everything a test may want to do to them. A provider that was
 * not asked for is null, and the type says so.
 */
export type Sandbox<O extends SandboxOptions = SandboxOptions> = {
  /** The only source of time here. It stands still until you move it. */
  readonly clock: SandboxClock
  /** The webhooks on their way, and what became of them. */
  readonly outbox: SandboxOutbox
  /** What shall go wrong next. */
  readonly trouble: SandboxTrouble
  /** Null unless `controlRoom` asked for it. */
  readonly controlRoom: ControlRoom | null
  /** What the `stripe` package needs to talk to the sandbox, and a look behind the counter. */
  readonly stripe: O['stripe'] extends true | object ? StripeHandle : StripeHandle | null
  /** What the `braintree` package needs to talk to the sandbox, and a look behind the counter. */
  readonly braintree: O['braintree'] extends true | object
    ? BraintreeHandle
    : BraintreeHandle | null
  /** What fell due and failed; empty on a good day. */
  failedJobs(): FailedJob[]
  /** Everything the sandbox knows, as plain JSON. */
  snapshot(): SandboxSnapshot
  /** Puts the sandbox back to a snapshot, the clock included. Nothing falls due on the way. */
  restore(snapshot: SandboxSnapshot): void
  /**
   * Empties the sandbox and puts the clock back to where this one began. What it was started with,
   * `fixtures` and webhooks, is there again; ids are drawn as they were the first time.
   */
  reset(): Promise<void>
  /** Puts the journal into the state file now; closing does so too. A failure leaves both as they were. */
  save(): Promise<void>
  /** Stops the servers, gives up on webhooks that are being sent, and writes the state file. */
  close(): Promise<void>
}

/** The sandbox's clock, which both providers share. It never goes back. */
export interface SandboxClock {
  /** What time it is in the sandbox. */
  now(): Date
  /** The same in epoch milliseconds. */
  nowMs(): number
  /**
   * Moves time forward and does everything that falls due on the way, in order: renewals, retries,
   * trial ends, settlements, webhooks. It resolves when all of that is done.
   */
  advance(by: Duration): Promise<void>
  /** As `advance`, to a moment; throws a `RangeError` when that lies in the past. */
  advanceTo(date: Date): Promise<void>
}

/** Which deliveries to show; all of them without it. */
export interface DeliveryFilter {
  /** Only those of one provider. */
  readonly provider?: Provider
  /** Only those of one event: one for each URL, and a copy where a switch doubled it. */
  readonly eventId?: string
}

/** Webhooks on their way: queued, signed at the moment of sending, retried, inspectable. */
export interface SandboxOutbox {
  /** The last deliveries, oldest first. */
  deliveries(filter?: DeliveryFilter): readonly Delivery[]
  /** Resolves when everything due by now has been attempted. */
  flush(): Promise<void>
  /** Sends a delivery again, now, whatever became of it. */
  redeliver(id: string): Promise<void>
  /** Turns switches on or off; those not named stay as they are. */
  set(switches: DeliverySwitches): void
  /** The switches that are on. */
  switches(): DeliverySwitches
}

/** Trouble on demand. A snapshot carries what has been ordered and has not happened yet. */
export interface SandboxTrouble {
  /** The next `count` calls (of one provider, or of whichever is called) go wrong. */
  failNext(count: number, kind: CallTrouble, provider?: Provider | null): void
  /** Resolves when a call has taken effect and its response is held. */
  untilHeld(): Promise<void>
  /** Sends the responses that are held. */
  release(): void
  /**
   * The next charge of this customer is declined with the provider's own code: at Stripe a decline
   * code such as `insufficient_funds`, at Braintree a processor response code such as `2001`.
   */
  declineNextCharge(customerId: string, code: string): void
  /**
   * Takes what waits for the provider's next call, as that call would; null when nothing does. A test
   * learns by it whether its trouble was met.
   */
  takeCallTrouble(provider: Provider): CallFate | null
  /** Takes what waits for the customer's next charge, as that charge would; null when nothing does. */
  takeDecline(customerId: string): string | null
  /** What has been ordered and not yet happened; looking takes nothing. */
  pending(): PendingTrouble
  /** Forgets all trouble not yet met, and sends the responses that are held. */
  clear(): void
}
