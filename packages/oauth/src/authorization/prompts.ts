import { InvalidRequest } from '../errors.ts'
import type { Form } from '../http/form.ts'

/** What `prompt` asks for (OpenID Connect Core §3.1.2.1). */
export interface Prompts {
  /** No screen, whatever happens. */
  readonly none: boolean
  /** The approval screen in any case. */
  readonly consent: boolean
  /** A new sign-in. */
  readonly login: boolean
}

const KNOWN: readonly string[] = ['none', 'consent', 'login', 'select_account']

export function readPrompts(params: Form): Prompts {
  const names = (params.get('prompt') ?? '').split(' ').filter((name) => name !== '')
  const unknown = names.find((name) => !KNOWN.includes(name))
  if (unknown !== undefined) {
    throw new InvalidRequest(
      'prompt must be none, or one or more of consent, login, select_account',
    )
  }
  if (names.includes('none') && names.length > 1) {
    throw new InvalidRequest('prompt=none cannot be combined with another value')
  }
  return {
    none: names.includes('none'),
    consent: names.includes('consent'),
    // Choosing another account means signing in with it: a browser has one session with us.
    login: names.includes('login') || names.includes('select_account'),
  }
}

/** Seconds, or null where it is not sent. */
export function readMaxAge(params: Form): number | null {
  const text = params.get('max_age')
  if (text === undefined) return null
  if (!/^\d{1,9}$/.test(text)) throw new InvalidRequest('max_age must be a number of seconds')
  return Number(text)
}
