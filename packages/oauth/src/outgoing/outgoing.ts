import {
  createPinnedRequest,
  type OutgoingSettings,
  type SendRequest,
} from '@tollgate/http/outgoing'
import type { Clock } from '../clock.ts'
import { createDocuments, type Documents } from './documents.ts'
import { createFetchPlaces, type FetchPlaces } from './fetch-places.ts'

/** What the server asks of others. */
export interface Outgoing {
  /** One request, to an address that was checked. */
  readonly send: SendRequest
  /** JSON documents, remembered for as long as their servers say. */
  readonly documents: Documents
  /** Bounds what one network has sent at once, for requests that are not for documents. */
  readonly places: FetchPlaces
}

export function createOutgoing(settings: OutgoingSettings, clock: Clock): Outgoing {
  const send = createPinnedRequest(settings)
  const places = createFetchPlaces()
  return { send, documents: createDocuments(send, places, clock), places }
}
