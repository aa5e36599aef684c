import type { BraintreeOptions } from './braintree/server/options.ts'
import { startBraintree } from './braintree/server/server.ts'
import { serveControlRoom } from './control-room/control-room.ts'
import { MovableClock } from './core/clock/clock.ts'
import { FailedJobs } from './core/clock/failed-jobs.ts'
import { Outbox } from './core/outbox.ts'
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
import type { Sandbox, SandboxOptions } from './sandbox.ts'
import type { StripeOptions } from './stripe/server/options.ts'
import { startStripe } from './stripe/server/server.ts'

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
  const clock = new MovableClock(saved ? new Date(saved.now) : (options.now ?? new Date()))
  const store = new Store(options.seed ?? 1)
  if (options.snapshot) store.restore(options.snapshot.store)
  else if (kept) store.adopt(kept.store)
  const outbox = new Outbox({ clock, store, ...options.outbox })
  const trouble = new Trouble(store)
  const failures = new FailedJobs({ clock, store })
  const context: ProviderContext = { clock, store, outbox, trouble, failures }
  const started: Closable[] = []
  const stripe = await startIf(started, options.stripe, (start: StripeOptions) =>
    startStripe(context, start),
  )
  const braintree = await startIf(started, options.braintree, (start: BraintreeOptions) =>
    startBraintree(context, start),
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
