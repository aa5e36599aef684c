import type { Duration } from '@tollgate/http'
import type { BraintreeHandle } from './braintree/server/handle.ts'
import type { BraintreeOptions } from './braintree/server/options.ts'
import type { ControlRoom } from './control-room/control-room.ts'
import type { FailedJob } from './core/clock/failed-jobs.ts'
import type { Delivery, DeliverySwitches } from './core/outbox.ts'
import type { SandboxSnapshot } from './core/store/snapshot.ts'
import type { AppliedCallFault, CallFault, PendingFaults } from './core/trouble.ts'
import type { SandboxFixtures } from './fixtures/fixtures.ts'
import type { MailboxOptions } from './mail/mail-server.ts'
import type { SandboxMailbox } from './mail/mailbox.ts'
import type { StripeHandle } from './stripe/server/handle.ts'
import type { StripeOptions } from './stripe/server/options.ts'

/** Name of a payment provider, as in webhook deliveries, failed jobs and simulated failures. */
export type Provider = 'stripe' | 'braintree'

/** Options of `startSandbox()`. Stripe or Braintree is started only if its option is set. */
export interface SandboxOptions {
  /**
   * Starts the sandbox's Stripe: `true` with the default options, or an object with options. Not
   * started by default.
   */
  readonly stripe?: boolean | StripeOptions
  /**
   * Starts the sandbox's Braintree: `true` with the default options, or an object with options. Not
   * started by default.
   */
  readonly braintree?: boolean | BraintreeOptions
  /**
   * Starts a mail server, whose mailbox receives the mail to every address: `true` with the default
   * options, or an object with options. Not started by default.
   */
  readonly mail?: boolean | MailboxOptions
  /** Start time of the sandbox's clock. Defaults to the system time. */
  readonly now?: Date
  /**
   * Seed of the generated ids: the same seed and the same calls give the same ids.
   * @default 1
   */
  readonly seed?: number
  /**
   * Path of a file that keeps the state between runs. If the file exists, the state is loaded from
   * it, and the clock in the file takes precedence over `now`. A journal beside the file records
   * every change before a response reports it, so a killed process loses nothing.
   */
  readonly stateFile?: string
  /**
   * State to start with, taken with `snapshot()`. It takes precedence over the contents of
   * `stateFile`, and its clock takes precedence over `now`.
   */
  readonly snapshot?: SandboxSnapshot
  /**
   * Objects to create in a new sandbox. They are created if there is no saved state, and again by
   * `reset()`.
   */
  readonly fixtures?: SandboxFixtures
  /**
   * Starts the control room: web pages that show and change the state of the sandbox. Not started
   * by default.
   */
  readonly controlRoom?: boolean | ControlRoomStart
  /**
   * Options for the delivery of webhooks. By default, webhooks are retried on the real providers'
   * schedules.
   */
  readonly outbox?: SandboxOutboxOptions
  /**
   * Additional host names under which the providers accept requests, such as the host name of a
   * proxy, a tunnel or a container network. IP addresses, `localhost` and other names that no
   * outsider can own are always accepted; requests under any other name get status 421. Does not
   * apply to the control room.
   */
  readonly allowedHosts?: readonly string[]
}

/** Options of the control room. */
export interface ControlRoomStart {
  /**
   * Port of the control room. 0 takes a free port.
   * @default 0
   */
  readonly port?: number
}

/** Options for the delivery of webhooks, such as the retry schedule. */
export interface SandboxOutboxOptions {
  /**
   * Seconds between the delivery attempts, for each provider. After the last retry the delivery has
   * failed. Defaults to the provider's own schedule.
   */
  readonly retrySchedules?: { readonly [P in Provider]?: readonly number[] }
  /**
   * Time to wait for a receiver's response, in milliseconds of real time.
   * @default 10_000
   */
  readonly timeoutMs?: number
  /**
   * Number of deliveries that are kept for inspection; older ones are deleted.
   * @default 20_000
   */
  readonly kept?: number
}

/**
 * A running sandbox: both providers, their shared clock, and the controls for tests. The handle of
 * a provider that was not started is `null`; its type includes `null` unless the provider's option
 * is set.
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
  /** The mailbox of the mail server. */
  readonly mail: O['mail'] extends true | object ? SandboxMailbox : SandboxMailbox | null
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
   * generates the same ids again. Then applies the `fixtures` and registers the webhooks with which
   * the sandbox was started.
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
 * The sandbox's clock, which Stripe and Braintree share. It only moves ahead; only `restore()` and
 * `reset()` set it back.
 * @example
 * ```ts
 * await sandbox.clock.advance({ days: 15 }) // a trial of 14 days ends, and its first invoice is paid
 * await sandbox.clock.advanceTo(new Date('2026-03-01T00:00:00Z'))
 * ```
 */
export interface SandboxClock {
  /** Returns the present time of the sandbox's clock. */
  now(): Date
  /** Returns the present time of the sandbox's clock in epoch milliseconds. */
  nowMs(): number
  /**
   * Moves the clock ahead and runs everything that becomes due, in chronological order: renewals,
   * retries, trial ends, settlements, webhooks. Resolves when all of it is done.
   * @throws {RangeError} If the duration is negative.
   */
  advance(by: Duration): Promise<void>
  /**
   * Moves the clock ahead to a date and runs everything that becomes due, as `advance()` does.
   * @throws {RangeError} If the date is in the past.
   */
  advanceTo(date: Date): Promise<void>
}

/** Restricts the webhook deliveries that `deliveries()` returns. */
export interface DeliveryFilter {
  /** Provider that sent the webhook. */
  readonly provider?: Provider
  /**
   * Id of the event that the webhook reports. An event has one delivery for each URL, and another
   * for each copy made by the simulated fault `duplicate`.
   */
  readonly eventId?: string
}

/**
 * The outgoing webhooks. They are signed when they are sent, retried, and kept for inspection.
 * @example
 * ```ts
 * sandbox.stripe.registerWebhook('http://127.0.0.1:3000/stripe/webhook')
 * sandbox.outbox.set({ duplicate: true, reorder: true })
 * await sandbox.clock.advance({ months: 1 })
 * const [delivery] = sandbox.outbox.deliveries({ provider: 'stripe' })
 * ```
 */
export interface SandboxOutbox {
  /** Returns the webhook deliveries that match the filter, oldest first. */
  deliveries(filter?: DeliveryFilter): readonly Delivery[]
  /** Attempts every delivery that is due now. Resolves when all of these attempts are done. */
  flush(): Promise<void>
  /**
   * Sends a webhook again now, whatever the state of its delivery is.
   * @throws {RangeError} If there is no delivery with this id.
   */
  redeliver(id: string): Promise<void>
  /** Changes the given simulated faults of deliveries and keeps all others as they are. */
  set(switches: DeliverySwitches): void
  /** Returns the simulated faults of deliveries that are in effect. */
  switches(): DeliverySwitches
}

/**
 * Simulates failures of API calls and charges. Snapshots contain the failures that have not
 * happened yet.
 */
export interface SandboxTrouble {
  /**
   * Makes the next `count` API calls fail in the given way: the calls to `provider`, or to either
   * provider if it is omitted or `null`.
   */
  failNext(count: number, kind: CallFault, provider?: Provider | null): void
  /**
   * Resolves when an API call has taken effect and its response is held back (see `held` in
   * `CallFault`).
   */
  untilHeld(): Promise<void>
  /** Sends the responses that are held back. */
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
   * Removes and returns the simulated failure for the provider's next API call. `null` if there is
   * none. With it, a test can check whether a failure has happened.
   */
  takeCallTrouble(provider: Provider): AppliedCallFault | null
  /**
   * Removes and returns the decline code for the customer's next charge. `null` if there is none.
   */
  takeDecline(customerId: string): string | null
  /** Returns the simulated failures that have not happened yet, without removing them. */
  pending(): PendingFaults
  /**
   * Removes all simulated failures that have not happened yet, and sends the responses that are
   * held back.
   */
  clear(): void
}
