import type { HttpResponse } from '../../../core/http.ts'
import type { StripeContext } from '../../state/context.ts'

/** More than anybody has open at a time. */
const MOST = 100
const KEPT = new WeakMap<StripeContext, Map<string, HttpResponse>>()
let count = 0

/**
 * Keeps the page that answers a form, and leads there: so neither "back" nor "reload" sends the form again.
 * It is shown once; after that its address shows the page as it is by then.
 */
export function leadTo(context: StripeContext, path: string, answer: HttpResponse): HttpResponse {
  const kept = KEPT.get(context) ?? new Map<string, HttpResponse>()
  KEPT.set(context, kept)
  const name = String(++count)
  kept.set(name, answer)
  const [oldest = ''] = kept.keys()
  if (kept.size > MOST) kept.delete(oldest)
  const mark = path.includes('?') ? '&' : '?'
  return { status: 303, headers: { location: `${path}${mark}shown=${name}` } }
}

export function takeAnswer(context: StripeContext, name: string): HttpResponse | null {
  const kept = KEPT.get(context)
  const answer = kept?.get(name) ?? null
  kept?.delete(name)
  return answer
}
