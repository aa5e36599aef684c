import { NotFetched, type OutgoingResponse, type SendRequest } from '@tollgate/http/outgoing'
import { createRecentCache } from '../caches/recent-cache.ts'
import { type Clock, isAfter } from '../clock.ts'
import { type CacheBounds, freshSeconds } from './cache-rules.ts'

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

/** What is fetched is remembered by the rules of HTTP, within bounds. */
export interface Documents {
  /** From memory while it is fresh. NotFetched when there is none to be had. */
  get(url: string, rules: DocumentRules): Promise<FetchedDocument>
  /**
   * Fetched again, because what is known does not do: a key is missing. Not twice in half a minute, unless what is
   * known is older than `since`.
   */
  getAgain(url: string, rules: DocumentRules, since?: Date): Promise<FetchedDocument>
  /** Fetched now, whatever is known: for what is decided once and for all. */
  getNow(url: string, rules: DocumentRules): Promise<FetchedDocument>
}

interface Known extends FetchedDocument {
  readonly etag: string | null
}

const REMEMBERED = 500
const BOUNDS: CacheBounds = { least: 60, most: 24 * 3600, usual: 300 }
const AGAIN_AFTER = 30_000
/** A stranger must not make us ask somebody else's server over and over. */
const FAILURE_KEPT = 10_000
/** Slow servers of a few must not take all there is. */
const MOST_AT_ONCE = 50
const MOST_OF_ONE_HOST = 5

export function createDocuments(send: SendRequest, clock: Clock): Documents {
  const known = createRecentCache<Known>(REMEMBERED)
  const failed = createRecentCache<{ readonly error: NotFetched; readonly until: number }>(
    REMEMBERED,
  )
  const underWay = new Map<string, Promise<Known>>()
  const perHost = new Map<string, number>()

  /** All who ask for the same at once share one request. */
  function fetchOnce(url: string, rules: DocumentRules): Promise<Known> {
    const running = underWay.get(url)
    if (running) return running
    const fetching = fetchLimited(new URL(url), rules).finally(() => underWay.delete(url))
    underWay.set(url, fetching)
    return fetching
  }

  async function fetchLimited(url: URL, rules: DocumentRules): Promise<Known> {
    const failure = failed.get(url.href)
    if (failure && failure.until > clock.now().getTime()) throw failure.error
    const count = perHost.get(url.host) ?? 0
    if (underWay.size >= MOST_AT_ONCE || count >= MOST_OF_ONE_HOST) {
      throw new NotFetched('Too much is being fetched at this moment', { temporary: true })
    }
    perHost.set(url.host, count + 1)
    try {
      return await fetchNow(url, rules)
    } catch (error) {
      if (error instanceof NotFetched) {
        failed.set(url.href, { error, until: clock.now().getTime() + FAILURE_KEPT })
      }
      throw error
    } finally {
      const left = (perHost.get(url.host) ?? 1) - 1
      if (left > 0) perHost.set(url.host, left)
      else perHost.delete(url.host)
    }
  }

  async function fetchNow(url: URL, rules: DocumentRules): Promise<Known> {
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
    known.set(url.href, found)
    return found
  }

  async function get(url: string, rules: DocumentRules): Promise<FetchedDocument> {
    const before = known.get(url)
    const now = clock.now().getTime()
    if (before && before.freshUntil.getTime() > now) return before
    try {
      return await fetchOnce(url, rules)
    } catch (error) {
      const away = error instanceof NotFetched && error.temporary
      const usableUntil = (before?.fetchedAt.getTime() ?? 0) + rules.usableWhenAway * 1000
      if (before && away && usableUntil > now) return before
      throw error
    }
  }

  return {
    get: async (url, rules) => get(canonical(url), rules),
    async getAgain(url, rules, since = new Date(0)) {
      const before = known.get(canonical(url))
      const soon = new Date(clock.now().getTime() - AGAIN_AFTER)
      if (before && isAfter(before.fetchedAt, soon) && !isAfter(since, before.fetchedAt))
        return before
      return fetchOnce(canonical(url), rules)
    },
    getNow: async (url, rules) => fetchOnce(canonical(url), rules),
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
