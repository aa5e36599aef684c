import { NotFetched, type OutgoingResponse, type SendRequest } from '@tollgate/http/outgoing'
import { createFairCache } from '../caches/fair-cache.ts'
import { type Clock, isAfter } from '../clock.ts'
import { type CacheBounds, freshSeconds } from './cache-rules.ts'
import type { FetchPlaces } from './fetch-places.ts'

/** A JSON document at an address that a client has told us. */
export interface FetchedDocument {
  readonly content: unknown
  readonly fetchedAt: Date
  readonly freshUntil: Date
}

export interface DocumentRules {
  /** What it may be sent as, beside every `application/…+json`. */
  readonly types: readonly string[]
  /** In bytes. */
  readonly largest: number
  /** How long it may be used while its server is away, in seconds after it was last fetched. */
  readonly usableWhenAway: number
}

/**
 * What is fetched is remembered by the rules of HTTP, within bounds. `by` is the network that asks for it, null where it
 * is not known.
 */
export interface Documents {
  /** From memory while it is fresh. NotFetched when there is none to be had. */
  get(url: string, rules: DocumentRules, by: string | null): Promise<FetchedDocument>
  /**
   * Fetched again, because what is known does not do: a key is missing. Not twice in half a minute, unless what is
   * known is older than `since`.
   */
  getAgain(
    url: string,
    rules: DocumentRules,
    by: string | null,
    since?: Date,
  ): Promise<FetchedDocument>
  /** Fetched now, whatever is known: for what is decided once and for all. */
  getNow(url: string, rules: DocumentRules, by: string | null): Promise<FetchedDocument>
}

interface Known extends FetchedDocument {
  readonly etag: string | null
}

/** More than a thousand networks, so that none of them loses the last document it asked for. */
const REMEMBERED = 2000
const BOUNDS: CacheBounds = { least: 60, most: 24 * 3600, usual: 300 }
const AGAIN_AFTER = 30_000
/** A stranger must not make us ask somebody else's server over and over. */
const FAILURE_KEPT = 10_000

export function createDocuments(send: SendRequest, places: FetchPlaces, clock: Clock): Documents {
  const known = createFairCache<Known>(REMEMBERED)
  const failed = createFairCache<{ readonly error: NotFetched; readonly until: number }>(REMEMBERED)
  const underWay = new Map<string, Promise<Known>>()

  /** All who ask for the same at once share one request. */
  function fetchOnce(url: string, rules: DocumentRules, by: string | null): Promise<Known> {
    const running = underWay.get(url)
    if (running) return running
    const failure = failed.get(url)
    if (failure && failure.until > clock.now().getTime()) return Promise.reject(failure.error)
    const fetching = places
      .send(by, () => fetchNoting(new URL(url), rules, by ?? ''))
      .finally(() => underWay.delete(url))
    underWay.set(url, fetching)
    return fetching
  }

  async function fetchNoting(url: URL, rules: DocumentRules, holder: string): Promise<Known> {
    try {
      return await fetchNow(url, rules, holder)
    } catch (error) {
      if (error instanceof NotFetched) {
        failed.set(url.href, { error, until: clock.now().getTime() + FAILURE_KEPT }, holder)
      }
      throw error
    }
  }

  async function fetchNow(url: URL, rules: DocumentRules, holder: string): Promise<Known> {
    const before = known.get(url.href)
    const response = await send(url, {
      method: 'GET',
      headers: {
        accept: 'application/json',
        ...(before?.etag && { 'if-none-match': before.etag }),
      },
      largest: rules.largest,
    })
    const now = clock.now()
    const freshUntil = new Date(now.getTime() + freshSeconds(response, now, BOUNDS) * 1000)
    const content = before && response.status === 304 ? before.content : contentOf(response, rules)
    const etag =
      response.header('etag') ?? (response.status === 304 ? (before?.etag ?? null) : null)
    const found = { content, etag, fetchedAt: now, freshUntil }
    known.set(url.href, found, holder)
    return found
  }

  async function get(
    url: string,
    rules: DocumentRules,
    by: string | null,
  ): Promise<FetchedDocument> {
    const before = known.get(url)
    const now = clock.now().getTime()
    if (before && before.freshUntil.getTime() > now) return before
    try {
      return await fetchOnce(url, rules, by)
    } catch (error) {
      const away = error instanceof NotFetched && error.temporary
      const usableUntil = (before?.fetchedAt.getTime() ?? 0) + rules.usableWhenAway * 1000
      if (before && away && usableUntil > now) return before
      throw error
    }
  }

  return {
    get: async (url, rules, by) => get(canonical(url), rules, by),
    async getAgain(url, rules, by, since = new Date(0)) {
      const before = known.get(canonical(url))
      const soon = new Date(clock.now().getTime() - AGAIN_AFTER)
      if (before && isAfter(before.fetchedAt, soon) && !isAfter(since, before.fetchedAt))
        return before
      return fetchOnce(canonical(url), rules, by)
    },
    getNow: async (url, rules, by) => fetchOnce(canonical(url), rules, by),
  }
}

function canonical(url: string): string {
  if (!URL.canParse(url)) throw new NotFetched('The address is no URL')
  return new URL(url).href
}

function contentOf(response: OutgoingResponse, { types }: DocumentRules): unknown {
  if (response.status !== 200) {
    const temporary = response.status >= 500 || response.status === 429
    throw new NotFetched(`It was answered with ${response.status}`, { temporary })
  }
  const type = (response.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (!types.includes(type) && !/^application\/[\w.-]+\+json$/.test(type)) {
    throw new NotFetched(`It has the content type ${type.slice(0, 100) || 'of nothing'}`)
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(response.body))
  } catch (cause) {
    throw new NotFetched('It is not JSON', { cause })
  }
}
