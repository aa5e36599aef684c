import { setTimeout as sleep } from 'node:timers/promises'

/** Result of asking the server to stop a statement. */
export type StopResult =
  /** The server accepted the request. */
  | 'heard'
  /** The server no longer has this connection. */
  | 'gone'
  /** There was no response. */
  | 'silent'

/** A connection whose caller gave up while the server has not yet responded. */
export interface UnansweredConnection {
  /** Resolves when the response arrives after all, or when the connection breaks. */
  readonly answered: Promise<void>
  /** Asks the server, over another connection, to stop the statement that this one runs. */
  stop(): Promise<StopResult>
  /** Closes the connection and frees its place in the pool. */
  close(): void
}

/**
 * Largest number of connections opened as replacements for connections that the server may still
 * hold.
 */
export const MAX_SPARE_CONNECTIONS = 2
/**
 * Milliseconds that an unanswered connection keeps its place in the pool while the network is
 * silent.
 */
export const SILENT_NETWORK_TIMEOUT_MS = 3000
const RETRY_DELAY = 1000

/**
 * Decision about the place that an unanswered connection occupies in the pool: the connection keeps
 * it, is closed, or stays open while another connection is allowed as its replacement.
 */
export type PoolSlotDecision = 'keep' | 'close' | 'replace'

/**
 * Decides whether an unanswered connection keeps its place in the pool. The connection keeps its
 * place while the server may still be working for it; otherwise every caller that gives up would
 * open another connection, until the server has none left. `waited` is in milliseconds, `replaced`
 * is the number of connections that already have a replacement.
 */
export function decidePoolSlot(
  result: StopResult,
  waited: number,
  replaced: number,
): PoolSlotDecision {
  if (result === 'gone') return 'close'
  if (waited < SILENT_NETWORK_TIMEOUT_MS) return 'keep'
  if (result === 'silent') return 'close'
  // The server works but this connection does not: its network path may be lost. A few of these are
  // replaced, so that a service can continue after all of its connections have died.
  return replaced < MAX_SPARE_CONNECTIONS ? 'replace' : 'keep'
}

export interface UnansweredConnections {
  /** Keeps the connection's place as long as needed, then closes the connection. */
  hold(connection: UnansweredConnection): void
  /** Closes all held connections immediately. */
  close(): void
}

/**
 * Keeps track of unanswered connections. `allow(1)` lets the pool open one connection more than its
 * size, `allow(-1)` revokes this permission.
 */
export function trackUnansweredConnections(allow: (more: 1 | -1) => void): UnansweredConnections {
  const held = new Set<() => void>()
  let replaced = 0

  async function follow(connection: UnansweredConnection): Promise<void> {
    const begun = performance.now()
    const pause = new AbortController()
    let isReplaced = false
    let finish = () => {}
    const over = new Promise<void>((resolve) => {
      finish = () => {
        pause.abort()
        resolve()
      }
    })
    held.add(finish)
    void connection.answered.then(finish)
    while (!pause.signal.aborted) {
      const stopped = connection.stop().catch((): StopResult => 'silent')
      const result = await Promise.race([stopped, over])
      if (!result) break
      const place = isReplaced
        ? 'keep'
        : decidePoolSlot(result, performance.now() - begun, replaced)
      if (place === 'close') break
      if (place === 'replace') {
        isReplaced = true
        replaced++
        allow(1)
      }
      await sleep(RETRY_DELAY, undefined, { signal: pause.signal }).catch(() => {})
    }
    held.delete(finish)
    connection.close()
    if (!isReplaced) return
    replaced--
    allow(-1)
  }

  return {
    hold: (connection) => void follow(connection),
    close() {
      for (const finish of held) finish()
    },
  }
}
