import { type BraintreeHandle, startBraintree } from './braintree/server/server.ts'
import { type ControlRoom, serveControlRoom } from './control-room/control-room.ts'
import { Clock } from './core/clock/clock.ts'
import { type FailedJob, FailedJobs } from './core/clock/failed-jobs.ts'
import { Outbox, type OutboxOptions } from './core/outbox.ts'
import type { ProviderContext } from './core/provider-context.ts'
import type { SandboxSnapshot } from './core/store/snapshot.ts'
import {
  checkWritable,
  readStateFile,
  stateLines,
  writeStateFile,
} from './core/store/state-file.ts'
import { Store } from './core/store/store.ts'
import { Trouble } from './core/trouble.ts'
import type { StripeHandle } from './stripe/server/handle.ts'
import type { StripeOptions } from './stripe/server/options.ts'
import { startStripe } from './stripe/server/server.ts'

export interface StripeStart extends StripeOptions {
  /** 0, the default, takes a free port. */
  readonly port?: number
}

export interface BraintreeStart {
  /** 0, the default, takes a free port. */
  readonly port?: number
  readonly merchantId?: string
  readonly publicKey?: string
  readonly privateKey?: string
  readonly currency?: string
}

export interface SandboxOptions {
  readonly stripe?: boolean | StripeStart
  readonly braintree?: boolean | BraintreeStart
  /** Where the clock starts. Without it: the moment of the call, read this once. */
  readonly now?: Date
  /** The same seed and the same calls give the same ids. */
  readonly seed?: number
  /** A file the state is read from, when it exists, and kept in. Its clock wins over `now`. */
  readonly stateFile?: string
  /** A state taken before with `snapshot()`. */
  readonly snapshot?: SandboxSnapshot
  /** A web page to watch and move it all. */
  readonly controlRoom?: boolean | { readonly port?: number }
  readonly outbox?: Pick<OutboxOptions, 'retrySchedules' | 'timeoutMs' | 'kept'>
}

type On = true | object

/** Providers that were not asked for are missing from the type. */
export type Sandbox<O extends SandboxOptions = SandboxOptions> = {
  readonly clock: Clock
  readonly outbox: Outbox
  readonly trouble: Trouble
  readonly controlRoom: ControlRoom | null
  readonly stripe: O['stripe'] extends On ? StripeHandle : StripeHandle | null
  readonly braintree: O['braintree'] extends On ? BraintreeHandle : BraintreeHandle | null
  /** What fell due and failed; empty on a good day. */
  failedJobs(): FailedJob[]
  /** Everything the sandbox knows, as plain JSON. */
  snapshot(): SandboxSnapshot
  /** Puts the sandbox back to a snapshot, the clock included. */
  restore(snapshot: SandboxSnapshot): void
  /** Writes the state file now; closing does so too. A failure leaves the file as it was. */
  save(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts Stripe and Braintree on loopback with one clock between them.
 * @example
 * const sandbox = await startSandbox({ stripe: true, now: new Date('2026-01-31T00:00:00Z') })
 * const stripe = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)
 * await sandbox.clock.advance({ months: 1 })
 */
export async function startSandbox<const O extends SandboxOptions>(
  options: O,
): Promise<Sandbox<O>> {
  const { stateFile } = options
  if (stateFile !== undefined) checkWritable(stateFile)
  const kept = stateFile === undefined || options.snapshot ? null : await readStateFile(stateFile)
  const saved = options.snapshot ?? kept
  const clock = new Clock(saved ? new Date(saved.now) : (options.now ?? new Date()))
  const store = new Store(options.seed ?? 1)
  if (options.snapshot) store.restore(options.snapshot.store)
  else if (kept) store.adopt(kept.store)
  const outbox = new Outbox({ clock, store, ...options.outbox })
  const trouble = new Trouble(store)
  const failures = new FailedJobs({ clock, store })
  const context = (port: number | undefined): ProviderContext => ({
    clock,
    store,
    outbox,
    trouble,
    failures,
    port: port ?? 0,
  })
  const started: Closable[] = []
  const stripe = await startIf(started, options.stripe, (start: StripeStart) =>
    startStripe(context(start.port), start),
  )
  const braintree = await startIf(
    started,
    options.braintree,
    ({ port, ...start }: BraintreeStart) => startBraintree({ ...start, ...context(port) }),
  )
  const snapshot = (): SandboxSnapshot => ({
    version: 1,
    now: clock.now().toISOString(),
    store: store.snapshot(),
  })
  const save = async () => {
    if (stateFile !== undefined) writeStateFile(stateFile, stateLines(clock.now(), store))
  }
  const room = options.controlRoom
  const controlRoom = await startIf(started, room, ({ port }: { port?: number }) =>
    serveControlRoom({
      clock,
      outbox,
      trouble,
      failures,
      stripe,
      braintree,
      port: port ?? 0,
      save,
    }),
  )
  const sandbox: Sandbox = {
    clock,
    outbox,
    trouble,
    controlRoom,
    stripe,
    braintree,
    failedJobs: () => failures.list(),
    snapshot,
    restore: (to) => {
      store.restore(to.store)
      clock.restoreTo(new Date(to.now))
    },
    save,
    close: async () => {
      outbox.close()
      await Promise.all(started.map((each) => each.close()))
      await save()
    },
  }
  return sandbox as Sandbox<O>
}

interface Closable {
  close(): Promise<void>
}

/** Starts what was asked for; when that fails, such as on a taken port, nothing stays behind. */
async function startIf<S extends object, H extends Closable>(
  started: Closable[],
  option: boolean | S | undefined,
  start: (options: S) => Promise<H>,
): Promise<H | null> {
  if (option === undefined || option === false) return null
  try {
    const handle = await start(option === true ? ({} as S) : option)
    started.push(handle)
    return handle
  } catch (error) {
    await Promise.all(started.map((each) => each.close()))
    throw error
  }
}
