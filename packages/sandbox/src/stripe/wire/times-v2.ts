import { invalidRequest } from './errors.ts'

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

/** Seconds since 1970 as `/v2` writes a moment: `2026-01-31T10:00:00.000Z`. */
export function timeV2(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}

/** Reads a moment of `/v2`, in seconds since 1970. SDKs send those of a filter as such a number, too. */
export function readTimeV2(text: string, param: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text)
  const time = ISO.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(time)) return time / 1000
  throw invalidRequest(
    `'${text}' is no time. Use ISO 8601, such as 2026-01-31T10:00:00.000Z.`,
    param,
    'invalid_fields',
  )
}
