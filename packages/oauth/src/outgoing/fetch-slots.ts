import { NotFetched } from '@tollgate/http/outgoing'

/** Maximum number of concurrent outgoing requests that one network may cause, per process. */
export const MAX_FETCHES_PER_NETWORK = 5
/** Maximum number of concurrent outgoing requests for all networks together, per process. */
export const MAX_FETCHES = 1000 * MAX_FETCHES_PER_NETWORK
/** Requests per network that may wait for their turn. */
const MAX_WAITING_PER_NETWORK = 20

/** Limits the concurrent requests to client-supplied URLs per network. */
export interface FetchSlots {
  /**
   * Waits for a free slot, sends an outgoing request and frees the slot. `by` is the network that
   * caused the request; `null` if unknown.
   */
  send<T>(by: string | null, request: () => Promise<T>): Promise<T>
}

interface Network {
  inProgress: number
  readonly queue: Array<() => void>
}

/**
 * Creates the limits on concurrent outgoing requests of one process. If a remote server is slow,
 * only callers from the network (IP range) that caused the requests have to wait.
 */
export function createFetchSlots(): FetchSlots {
  const networks = new Map<string, Network>()
  let total = 0

  async function acquire(name: string, most: number): Promise<Network> {
    const network = networks.get(name) ?? { inProgress: 0, queue: [] }
    if (network.inProgress >= most) {
      if (network.queue.length >= MAX_WAITING_PER_NETWORK) throw busy()
      // A finished request passes its slot to the next in the queue.
      await new Promise<void>((resolve) => network.queue.push(resolve))
      return network
    }
    if (total >= MAX_FETCHES) throw busy()
    networks.set(name, network)
    network.inProgress += 1
    total += 1
    return network
  }

  function release(name: string, network: Network): void {
    const next = network.queue.shift()
    if (next) {
      next()
      return
    }
    network.inProgress -= 1
    total -= 1
    if (network.inProgress === 0) networks.delete(name)
  }

  return {
    async send(by, request) {
      const name = by ?? ''
      const network = await acquire(name, by === null ? MAX_FETCHES : MAX_FETCHES_PER_NETWORK)
      try {
        return await request()
      } finally {
        release(name, network)
      }
    },
  }
}

function busy(): NotFetched {
  return new NotFetched('Too many documents are being fetched right now', { temporary: true })
}
