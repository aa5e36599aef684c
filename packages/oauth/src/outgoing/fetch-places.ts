import { NotFetched } from '@tollgate/http/outgoing'

/** Requests that one process sends at once because one network asked for them. */
export const FETCHES_OF_ONE_NETWORK = 5
/** And for all networks together. */
export const FETCHES_IN_TOTAL = 1000 * FETCHES_OF_ONE_NETWORK
/** How many of one network may wait for their turn. */
const WAITING_OF_ONE_NETWORK = 20

/** Lets requests to addresses that strangers have named go out, a few at once for each network. */
export interface FetchPlaces {
  /** Waits for a place, sends, and frees the place. `by` is a network; null where it is not known. */
  send<T>(by: string | null, request: () => Promise<T>): Promise<T>
}

interface Network {
  underWay: number
  readonly queue: Array<() => void>
}

/**
 * Creates the places of one process. A slow server holds up only the network that named it: the total is so large that
 * a thousand networks do not fill it.
 */
export function createFetchPlaces(): FetchPlaces {
  const networks = new Map<string, Network>()
  let total = 0

  async function enter(name: string, most: number): Promise<Network> {
    const network = networks.get(name) ?? { underWay: 0, queue: [] }
    if (network.underWay >= most) {
      if (network.queue.length >= WAITING_OF_ONE_NETWORK) throw busy()
      // Whoever leaves hands the place over.
      await new Promise<void>((resolve) => network.queue.push(resolve))
      return network
    }
    if (total >= FETCHES_IN_TOTAL) throw busy()
    networks.set(name, network)
    network.underWay += 1
    total += 1
    return network
  }

  function leave(name: string, network: Network): void {
    const next = network.queue.shift()
    if (next) {
      next()
      return
    }
    network.underWay -= 1
    total -= 1
    if (network.underWay === 0) networks.delete(name)
  }

  return {
    async send(by, request) {
      const name = by ?? ''
      const network = await enter(name, by === null ? FETCHES_IN_TOTAL : FETCHES_OF_ONE_NETWORK)
      try {
        return await request()
      } finally {
        leave(name, network)
      }
    },
  }
}

function busy(): NotFetched {
  return new NotFetched('Too much is being fetched at this moment', { temporary: true })
}
