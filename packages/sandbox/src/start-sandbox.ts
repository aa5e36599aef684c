import { openBraintree, serveBraintree } from './braintree/server/server.ts'
import { serveControlRoom } from './control-room/control-room.ts'
import type { RunningProviders } from './control-room/story/observed-sandbox.ts'
import { MovableClock } from './core/clock/clock.ts'
import { FailedJobs } from './core/clock/failed-jobs.ts'
import { checkAllowedHosts } from './core/local-names.ts'
import { WebhookOutbox } from './core/outbox.ts'
import type { ProviderContext } from './core/provider-context.ts'
import { loadPersistedState, PersistedState } from './core/store/persisted-state.ts'
import { checkSnapshot, type SandboxSnapshot, STATE_FORMAT } from './core/store/snapshot.ts'
import { checkWritable, serializeStateLines, streamState } from './core/store/state-file.ts'
import { lockStateFile, type StateLock } from './core/store/state-lock.ts'
import { SandboxStore } from './core/store/store.ts'
import { FailureSimulator } from './core/trouble.ts'
import { applyFixtures } from './fixtures/apply-fixtures.ts'
import { ensureWebhooks } from './fixtures/ensure-webhooks.ts'
import { serveMail } from './mail/mail-server.ts'
import { openOfflineSandbox, type ProviderOptions } from './offline/offline-sandbox.ts'
import type { Sandbox, SandboxOptions } from './sandbox.ts'
import { openStripe, serveStripe } from './stripe/server/server.ts'
import { packTables } from './stripe/state/tables.ts'

/**
 * Starts a sandbox: local servers of Stripe and Braintree with one shared clock.
 * @throws {TypeError} If an option is invalid, or the state file has another format.
 * @throws {Error} If the state file is in use or cannot be written, or a port is taken.
 * @example
 * ```ts
 * const sandbox = await startSandbox({ stripe: true, now: new Date('2026-01-31T00:00:00Z') })
 * const stripe = new Stripe(sandbox.stripe.apiKey, sandbox.stripe.config)
 * await sandbox.clock.advance({ months: 1 })
 * await sandbox.close()
 * ```
 */
export async function startSandbox<const O extends SandboxOptions>(
  options: O,
): Promise<Sandbox<O>> {
  const { stateFile } = options
  checkAllowedHosts(options.allowedHosts ?? [])
  if (stateFile === undefined) return startWith(options, null)
  checkWritable(stateFile)
  const lock = await lockStateFile(stateFile)
  try {
    return await startWith(options, lock)
  } catch (error) {
    lock.release()
    throw error
  }
}

/**
 * Starts the sandbox. `lock` is the lock of the state file, which is released when the sandbox is
 * closed.
 */
async function startWith<const O extends SandboxOptions>(
  options: O,
  lock: StateLock | null,
): Promise<Sandbox<O>> {
  const began = options.now ?? new Date()
  const { context, isNew, kept } = await openContext(options, began)
  const { clock, store, outbox, trouble, failures } = context
  const wanted = selectProviders(options)
  const started: Closable[] = []
  const running = await startProviders(context, wanted, started, {
    isWatched: toOptionsOrNull(options.controlRoom) !== null,
  })
  const mailOptions = toOptionsOrNull(options.mail)
  const mail = mailOptions && (await startOrCloseAll(started, serveMail(mailOptions, clock)))
  const providers = {
    stripe: running.stripe?.handle ?? null,
    braintree: running.braintree?.handle ?? null,
  }
  const begin = async (fresh: boolean) => {
    if (fresh && options.fixtures) await applyFixtures(providers, options.fixtures)
    await ensureWebhooks(providers, wanted)
  }
  const restore = (to: SandboxSnapshot) => {
    checkSnapshot(to)
    store.restore(to.store)
    clock.restoreTo(new Date(to.now))
  }
  const state = () => serializeStateLines(clock.now(), store)
  const save = async () => kept?.save()
  const reset = async () => {
    trouble.clear()
    mail?.recover()
    mail?.deleteAll()
    await outbox.flush()
    const empty = openOfflineSandbox({
      now: began,
      seed: seedOf(options),
      ...wanted,
    }).store.snapshot()
    restore({ version: STATE_FORMAT, now: began.toISOString(), store: empty })
    await begin(true)
  }
  const exportState = () => streamState(state())
  const room = toOptionsOrNull(options.controlRoom)
  const controls = { save, reset, exportState, port: room?.port ?? 0 }
  const serving = room && serveControlRoom({ ...context, ...running, mail, wanted, ...controls })
  const controlRoom = serving && (await startOrCloseAll(started, serving))
  await startOrCloseAll(started, begin(isNew).then(nothingToClose))
  kept?.begin()
  const sandbox: Sandbox = {
    clock,
    outbox,
    trouble,
    controlRoom,
    ...providers,
    mail,
    failedJobs: () => failures.list(),
    snapshot: () => ({
      version: STATE_FORMAT,
      now: clock.now().toISOString(),
      store: store.snapshot(),
    }),
    restore,
    reset,
    save,
    close: async () => {
      outbox.close()
      await Promise.all(started.map((each) => each.close()))
      kept?.close()
      lock?.release()
    },
  }
  return sandbox as Sandbox<O>
}

interface OpenedContext {
  readonly context: ProviderContext
  /** Whether the sandbox is new: no saved state was loaded. */
  readonly isNew: boolean
  /** Writes the state to its file and journal. `null` without a state file. */
  readonly kept: PersistedState | null
}

/** Loads the saved state, if there is any, and creates the services that the providers share. */
async function openContext(options: SandboxOptions, began: Date): Promise<OpenedContext> {
  const { stateFile, snapshot } = options
  const store = new SandboxStore(seedOf(options))
  if (options.stripe && stateFile !== undefined) packTables(store)
  if (snapshot) {
    checkSnapshot(snapshot)
    store.restore(snapshot.store)
  }
  const loaded =
    stateFile === undefined || snapshot ? null : await loadPersistedState(stateFile, store)
  const saved = snapshot ? new Date(snapshot.now) : (loaded?.now ?? null)
  const clock = new MovableClock(saved ?? began)
  const kept = stateFile === undefined ? null : new PersistedState(stateFile, store, clock, loaded)
  const outbox = new WebhookOutbox({ clock, store, ...options.outbox })
  const trouble = new FailureSimulator(store)
  const failures = new FailedJobs({ store })
  const { allowedHosts } = options
  const context = { clock, store, outbox, trouble, failures, allowedHosts }
  return { context, isNew: saved === null, kept }
}

async function startProviders(
  context: ProviderContext,
  selectedProviders: ProviderOptions,
  started: Closable[],
  { isWatched }: { readonly isWatched: boolean },
): Promise<RunningProviders> {
  const stripe = selectedProviders.stripe && openStripe(context, selectedProviders.stripe)
  const braintree =
    selectedProviders.braintree &&
    openBraintree(context, selectedProviders.braintree, { keepVersions: isWatched })
  return {
    stripe: stripe && {
      context: stripe,
      handle: await startOrCloseAll(started, serveStripe(stripe, selectedProviders.stripe ?? {})),
    },
    braintree: braintree && {
      merchants: [...braintree.values()],
      handle: await startOrCloseAll(
        started,
        serveBraintree(braintree, context, selectedProviders.braintree ?? {}),
      ),
    },
  }
}

interface Closable {
  close(): Promise<void>
}

const nothingToClose = (): Closable => ({ close: async () => {} })

/**
 * Adds what has started to `started`. If starting fails, for example because a port is taken,
 * closes everything started before.
 */
async function startOrCloseAll<H extends Closable>(
  started: Closable[],
  starting: Promise<H>,
): Promise<H> {
  try {
    const handle = await starting
    started.push(handle)
    return handle
  } catch (error) {
    await Promise.all(started.map((each) => each.close()))
    throw error
  }
}

function selectProviders(options: SandboxOptions): ProviderOptions {
  return { stripe: toOptionsOrNull(options.stripe), braintree: toOptionsOrNull(options.braintree) }
}

function toOptionsOrNull<S extends object>(option: boolean | S | undefined): S | null {
  if (option === undefined || option === false) return null
  return option === true ? ({} as S) : option
}

function seedOf({ seed }: SandboxOptions): number {
  return seed ?? 1
}
