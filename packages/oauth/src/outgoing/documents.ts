import { NotFetched, type OutgoingResponse, type SendRequest } from '@tollgate/http/outgoing'
import { createFairCache } from '../caches/fair-cache.ts'
import { type Clock, isAfter } from '../clock.ts'
import type { FetchSlots } from './fetch-slots.ts'

/** A JSON document fetched from a client-supplied URL. */
export interface FetchedDocument {
  readonly content: unknown
  readonly fetchedAt: Date
  readonly freshUntil: Date
}

export interface DocumentRules {
  /** Accepted content types. Every `application/…+json` is accepted too. */
  readonly types: readonly string[]
  /** Largest accepted body, in bytes. */
  readonly largest: number
  /**
   * Seconds after the last fetch during which the document may still be used if its server is down.
   */
  readonly staleIfError: number
}

/**
 * Fetches JSON documents from client-supplied URLs and caches them as their HTTP headers allow,
 * within limits. The parameter `requestedBy` is the network that caused the request, or `null` if
 * unknown.
 */
export interface DocumentFetcher {
  /**
   * Returns the cached document while it is fresh. Otherwise fetches the document again.
   * @throws NotFetched if it cannot be fetched
   */
  get(url: string, rules: DocumentRules, requestedBy: string | null): Promise<FetchedDocument>
  /**
   * Fetches a document again because the cached one is insufficient, for example because it lacks a
   * key. Returns the cached document if it was fetched less than 30 seconds ago and not before
   * `since`.
   */
  refetch(
    url: string,
    rules: DocumentRules,
    requestedBy: string | null,
    since?: Date,
  ): Promise<FetchedDocument>
  /** Fetches a document without using the cache. For decisions that are made only once. */
  fetchNow(url: string, rules: DocumentRules, requestedBy: string | null): Promise<FetchedDocument>
}

interface Known extends FetchedDocument {
  readonly etag: string | null
}

/**
 * Maximum number of cached documents. Larger than the thousand networks that can cause requests
 * concurrently (`MAX_FETCHES`), so that the last document of each network stays cached.
 */
const CACHE_SIZE = 2000
const BOUNDS: CacheBounds = { min: 60, max: 24 * 3600, fallback: 300 }
const MIN_REFETCH_INTERVAL = 30_000
/**
 * How long a failed fetch is remembered, in milliseconds. Prevents strangers from making this
 * server send requests to another server repeatedly.
 */
const FAILURE_CACHE_MS = 10_000

export function createDocumentFetcher(
  send: SendRequest,
  slots: FetchSlots,
  clock: Clock,
): DocumentFetcher {
  const known = createFairCache<Known>(CACHE_SIZE)
  const failed = createFairCache<{ readonly error: NotFetched; readonly until: number }>(CACHE_SIZE)
  const inProgress = new Map<string, Promise<Known>>()

  /** Shares one request among concurrent callers for the same URL. */
  function fetchOnce(url: string, rules: DocumentRules, by: string | null): Promise<Known> {
    const running = inProgress.get(url)
    if (running) return running
    const failure = failed.get(url)
    if (failure && failure.until > clock.now().getTime()) return Promise.reject(failure.error)
    const fetching = slots
      .send(by, () => fetchRecordingFailure(new URL(url), rules, by ?? ''))
      .finally(() => inProgress.delete(url))
    inProgress.set(url, fetching)
    return fetching
  }

  async function fetchRecordingFailure(
    url: URL,
    rules: DocumentRules,
    holder: string,
  ): Promise<Known> {
    try {
      return await fetchNow(url, rules, holder)
    } catch (error) {
      if (error instanceof NotFetched) {
        failed.set(url.href, { error, until: clock.now().getTime() + FAILURE_CACHE_MS }, holder)
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
      maxBytes: rules.largest,
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
      const usableUntil = (before?.fetchedAt.getTime() ?? 0) + rules.staleIfError * 1000
      if (before && away && usableUntil > now) return before
      throw error
    }
  }

  return {
    get: async (url, rules, by) => get(canonical(url), rules, by),
    async refetch(url, rules, by, since = new Date(0)) {
      const before = known.get(canonical(url))
      const soon = new Date(clock.now().getTime() - MIN_REFETCH_INTERVAL)
      if (before && isAfter(before.fetchedAt, soon) && !isAfter(since, before.fetchedAt))
        return before
      return fetchOnce(canonical(url), rules, by)
    },
    fetchNow: async (url, rules, by) => fetchOnce(canonical(url), rules, by),
  }
}

function canonical(url: string): string {
  if (!URL.canParse(url)) throw new NotFetched('The address is not a URL')
  return new URL(url).href
}

function contentOf(response: OutgoingResponse, { types }: DocumentRules): unknown {
  if (response.status !== 200) {
    const temporary = response.status >= 500 || response.status === 429
    throw new NotFetched(`The server responded with ${response.status}`, { temporary })
  }
  const type = (response.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase() ?? ''
  if (!types.includes(type) && !/^application\/[\w.-]+\+json$/.test(type)) {
    throw new NotFetched(`It has the content type ${type.slice(0, 100) || '(none)'}`)
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(response.body))
  } catch (cause) {
    throw new NotFetched('The response is not JSON', { cause })
  }
}

/** Bounds, in seconds, for how long a response is cached. */
interface CacheBounds {
  readonly min: number
  readonly max: number
  /** Duration used if the response does not state how long it stays fresh. */
  readonly fallback: number
}

interface Headers {
  header(name: string): string | null
}

/** Returns how many seconds the response stays fresh (RFC 9111 §4.2, private cache). */
function freshSeconds(response: Headers, now: Date, bounds: CacheBounds): number {
  const { min, max } = bounds
  return Math.min(max, Math.max(min, statedSeconds(response, now) ?? bounds.fallback))
}

function statedSeconds(response: Headers, now: Date): number | null {
  const control = (response.header('cache-control') ?? '').toLowerCase()
  if (/\b(no-store|no-cache)\b/.test(control)) return 0
  const age = wholeNumber(response.header('age')) ?? 0
  const maxAge = wholeNumber(/\bmax-age="?(\d{1,9})/.exec(control)?.[1])
  if (maxAge !== null) return maxAge - age
  const expires = response.header('expires')
  if (expires === null) return null
  const end = Date.parse(expires)
  // RFC 9111 §5.3: an unreadable date counts as expired.
  if (Number.isNaN(end)) return 0
  const sent = Date.parse(response.header('date') ?? '')
  return Math.floor((end - (Number.isNaN(sent) ? now.getTime() : sent)) / 1000) - age
}

function wholeNumber(text: string | null | undefined): number | null {
  return text && /^\d{1,9}$/.test(text) ? Number(text) : null
}
