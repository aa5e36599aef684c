/** How long a response may be kept, at least and at most, in seconds, whatever it says itself. */
export interface CacheBounds {
  readonly least: number
  readonly most: number
  /** Where it says nothing. */
  readonly usual: number
}

interface Headers {
  header(name: string): string | null
}

/** RFC 9111 §4.2, for a cache that serves one reader: how many seconds the response is fresh from now on. */
export function freshSeconds(response: Headers, now: Date, bounds: CacheBounds): number {
  const { least, most } = bounds
  return Math.min(most, Math.max(least, saidSeconds(response, now) ?? bounds.usual))
}

function saidSeconds(response: Headers, now: Date): number | null {
  const control = (response.header('cache-control') ?? '').toLowerCase()
  if (/\b(no-store|no-cache)\b/.test(control)) return 0
  const age = wholeNumber(response.header('age')) ?? 0
  const maxAge = wholeNumber(/\bmax-age="?(\d{1,9})/.exec(control)?.[1])
  if (maxAge !== null) return maxAge - age
  const expires = response.header('expires')
  if (expires === null) return null
  const end = Date.parse(expires)
  // RFC 9111 §5.3: a date that cannot be read has passed.
  if (Number.isNaN(end)) return 0
  const sent = Date.parse(response.header('date') ?? '')
  return Math.floor((end - (Number.isNaN(sent) ? now.getTime() : sent)) / 1000) - age
}

function wholeNumber(text: string | null | undefined): number | null {
  return text && /^\d{1,9}$/.test(text) ? Number(text) : null
}
