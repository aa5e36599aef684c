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

/** Payment provider, as named in deliveries, failed jobs and injected faults. */
export type Provider = 'stripe' | 'braintree'

/** Options of `startSandbox()`. A provider starts only if its option is set. */
export interface SandboxOptions {
  /** Starts Stripe: `true` with its defaults, an object with options. */
  readonly stripe?: boolean | StripeOptions
  /** Starts Braintree: `true` with its defaults, an object with options. */
  readonly braintree?: boolean | BraintreeOptions
  /** Start time of the sandbox's clock. Defaults to the system time of the call. */
  readonly now?: Date
  /**
   * Seed of the generated ids: the same seed and the same calls give the same ids.
   * @default 1
   */
  readonly seed?: number
  /**
   * Path of a file to persist the state in. If it exists, the state is loaded from it, and its
   * clock takes precedence over `now`. A journal beside it records every change before a response
   * reports it, so a killed process loses nothing.
   */
  readonly stateFile?: string
  /**
   * State to start from, taken with `snapshot()`. Takes precedence over the contents of
   * `stateFile`, and its clock over `now`.
   */
  readonly snapshot?: SandboxSnapshot
  /**
   * Objects to create in a new sandbox. Applied when there is no saved state, and again by
   * `reset()`.
   */
  readonly fixtures?: SandboxFixtures
  /** Serves the control room, a web page to inspect and operate the sandbox. */
  readonly controlRoom?: boolean | ControlRoomStart
  /**
   * Options for the delivery of webhooks. By default, webhooks are retried as by the real
   * providers.
   */
  readonly outbox?: SandboxOutboxOptions
  /**
   * Further host names under which the providers accept requests, such as that of a proxy, a tunnel
   * or a network. IP addresses, `localhost` and other names that no outsider can own are always
   * accepted; requests under any other name get 421. Does not apply to the control room.
   */
  readonly allowedHosts?: readonly string[]
}

/** Options of the control room. */
export interface ControlRoomStart {
  /**
   * Port to listen on. 0 takes a free port.
   * @default 0
   */
  readonly port?: number
}

/** Options for the delivery of webhooks, such as the retry schedule. */
export interface SandboxOutboxOptions {
  /**
   * Seconds between attempts, by provider. After the last retry the delivery has failed. Defaults
   * to the provider's own schedule.
   */
  readonly retrySchedules?: { readonly [P in Provider]?: readonly number[] }
  /**
   * Time limit for a receiver's response, in real milliseconds.
   * @default 10_000
   */
  readonly timeoutMs?: number
  /**
   * Number of deliveries kept for inspection.
   * @default 20_000
   */
  readonly kept?: number
}

/**
 * A running sandbox: both providers, their shared clock, and the controls for tests. The handle of
 * a provider that was not started is `null`, also in its type.
 */
export type Sandbox<O extends SandboxOptions = SandboxOptions> = {
  /** The shared clock, the only source of time. It stands still until you move it. */
  readonly clock: SandboxClock
  /** The outgoing webhooks and the outcome of their deliveries. */
  readonly outbox: SandboxOutbox
  /** Injects faults into API calls and charges. */
  readonly trouble: SandboxTrouble
  /** The running control room. `null` unless the `controlRoom` option is set. */
  readonly controlRoom: ControlRoom | null
  /** Settings for the `stripe` package, and direct access to Stripe's state. */
  readonly stripe: O['stripe'] extends true | object ? StripeHandle : StripeHandle | null
  /** Settings for the `braintree` package, and direct access to Braintree's state. */
  readonly braintree: O['braintree'] extends true | object
    ? BraintreeHandle
    : BraintreeHandle | null
  /** Returns the scheduled jobs, such as renewals, that threw an error. Normally empty. */
  failedJobs(): FailedJob[]
  /** Returns the complete state as plain JSON. */
  snapshot(): SandboxSnapshot
  /**
   * Replaces the state and the time by those of a snapshot. No due work runs.
   * @throws {TypeError} If the snapshot has another format.
   */
  restore(snapshot: SandboxSnapshot): void
  /**
   * Empties the sandbox, sets the clock to `now` (by default the time the sandbox was started) and
   * generates the same ids again. Applies the `fixtures` and webhooks it was started with.
   */
  reset(): Promise<void>
  /**
   * Writes a complete state file now; `close()` does so too. If writing fails, the previous file
   * and its journal are unchanged. Does nothing without `stateFile`.
   */
  save(): Promise<void>
  /** Stops the servers, aborts webhook deliveries in progress, and writes the state file. */
  close(): Promise<void>
}

/**
 * The sandbox's clock, shared by both providers. Only `restore()` and `reset()` set it back.
 * @example
 * ```ts
 * await sandbox.clock.advance({ days: 15 }) // a trial of 14 days ends, and its first invoice is paid
 * await sandbox.clock.advanceTo(new Date('2026-03-01T00:00:00Z'))
 * ```
 */
export interface SandboxClock {
  /** Returns the sandbox's time. */
  now(): Date
  /** Returns the sandbox's time in epoch milliseconds. */
  nowMs(): number
  /**
   * Moves time forward and runs everything that falls due on the way, in chronological order:
   * renewals, retries, trial ends, settlements, webhooks. Resolves when all of it is done.
   * @throws {RangeError} If the duration is negative.
   */
  advance(by: Duration): Promise<void>
  /**
   * Moves time forward to a date, as `advance()` does.
   * @throws {RangeError} If the date is in the past.
   */
  advanceTo(date: Date): Promise<void>
}

/** Limits the deliveries to return. */
export interface DeliveryFilter {
  /** Provider that sent the webhook. */
  readonly provider?: Provider
  /**
   * Event id. An event has one delivery per URL, and another for each copy made by the `duplicate`
   * switch.
   */
  readonly eventId?: string
}

/**
 * Outgoing webhooks: queued, signed at the moment of sending, retried and open to inspection.
 * @example
 * ```ts
 * sandbox.stripe.registerWebhook('http://127.0.0.1:3000/stripe/webhook')
 * sandbox.outbox.set({ duplicate: true, reorder: true })
 * await sandbox.clock.advance({ months: 1 })
 * const [delivery] = sandbox.outbox.deliveries({ provider: 'stripe' })
 * ```
 */
export interface SandboxOutbox {
  /** Returns the kept deliveries, oldest first. */
  deliveries(filter?: DeliveryFilter): readonly Delivery[]
  /** Attempts every delivery that is due now. Resolves when all of these attempts are done. */
  flush(): Promise<void>
  /**
   * Sends a delivery again, now, whatever its state.
   * @throws {RangeError} If there is no delivery with this id.
   */
  redeliver(id: string): Promise<void>
  /** Changes the given switches and keeps the others as they are. */
  set(switches: DeliverySwitches): void
  /** Returns the switches that were set. */
  switches(): DeliverySwitches
}

/**
 * Injects faults into API calls and charges. Snapshots contain the faults that have not happened
 * yet.
 */
export interface SandboxTrouble {
  /** Injects a fault into the next `count` calls: to `provider`, or to either one without it. */
  failNext(count: number, kind: CallTrouble, provider?: Provider | null): void
  /**
   * Resolves when a call has taken effect and its response is held (see `held` in `CallTrouble`).
   */
  untilHeld(): Promise<void>
  /** Sends the held responses. */
  release(): void
  /**
   * Declines this customer's next charge with the provider's own code: at Stripe a decline code
   * such as `insufficient_funds`, at Braintree a processor response code such as `2001`. Several
   * calls decline several charges.
   * @example
   * ```ts
   * sandbox.trouble.declineNextCharge(customer.id, 'insufficient_funds')
   * await sandbox.clock.advance({ months: 1, hours: 1 }) // the renewal fails and will be retried
   * ```
   */
  declineNextCharge(customerId: string, code: string): void
  /**
   * Removes and returns the fault for the provider's next call. `null` if there is none. Lets a
   * test check whether its fault has happened.
   */
  takeCallTrouble(provider: Provider): CallFate | null
  /**
   * Removes and returns the decline code for the customer's next charge. `null` if there is none.
   */
  takeDecline(customerId: string): string | null
  /** Returns the faults that have not happened yet, without removing them. */
  pending(): PendingTrouble
  /** Removes all pending faults and sends the held responses. */
  clear(): void
}
