import { timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { readText } from '../../http/body.ts'
import { isReadable, UnreadableRequest } from '../../http/readable.ts'
import { isSameOrigin } from '../../http/same-origin.ts'
import type { AppEnv } from '../../http/variables.ts'

/** A post that does not come from a page of ours, or from one of another session. */
export class ForeignForm extends Error {
  override readonly name = 'ForeignForm'
}

const FORM = 'application/x-www-form-urlencoded'

/** The fields of a posted form. Nobody need be signed in; the post must come from a page of ours. */
export async function readForm(c: Context<AppEnv>): Promise<URLSearchParams> {
  if (!isSameOrigin(c.req.raw, c.get('page').service.url)) throw new ForeignForm()
  const type = (c.req.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase()
  if (type !== FORM) throw new ForeignForm()
  const text = await readText(c)
  if (!isReadable(text)) throw new UnreadableRequest()
  return new URLSearchParams(text)
}

/** The fields of a form that only the signed-in person may send. */
export async function readOwnForm(c: Context<AppEnv>): Promise<URLSearchParams> {
  const form = await readForm(c)
  const { csrfToken } = c.get('page')
  if (csrfToken === null || !equal(form.get('csrf_token') ?? '', csrfToken)) throw new ForeignForm()
  return form
}

function equal(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
