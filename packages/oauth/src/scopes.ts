import { InvalidScope } from './errors.ts'

/** Scope name to the description a person reads on the approval screen, in the order shown. */
export type ScopeDefinitions = Readonly<Record<string, string>>

/** All scopes at once; only password-grant tokens may hold it. */
export const WILDCARD = '*'

/** RFC 6749 §3.3: scope-token = 1*( %x21 / %x23-5B / %x5D-7E ). */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

export interface ScopePolicy {
  readonly defined: ReadonlySet<string>
  /** Scopes the client is limited to; null means any defined one. */
  readonly client: readonly string[] | null
  readonly wildcard: 'allowed' | 'refused'
}

export function parseScope(text: string | undefined): string[] {
  if (!text) return []
  if (!text.includes(' ')) return [text]
  return [...new Set(text.split(' ').filter((name) => name !== ''))]
}

/** What was asked for, or an `invalid_scope` that names the first name not to be had. */
export function resolveScopes(requested: readonly string[], policy: ScopePolicy): string[] {
  for (const name of requested) {
    if (!SCOPE_TOKEN.test(name)) throw new InvalidScope('The scope holds characters not allowed')
    if (name === WILDCARD) {
      if (policy.wildcard === 'allowed' && policy.client === null) continue
      throw new InvalidScope('The scope * is granted to password-grant tokens only')
    }
    if (!policy.defined.has(name)) {
      throw new InvalidScope(`The scope '${name}' is not defined`, {
        hint: 'GET /oauth/scopes lists those that are',
      })
    }
    if (policy.client && !policy.client.includes(name)) {
      throw new InvalidScope(`This client may not ask for the scope '${name}'`)
    }
  }
  return [...requested]
}

/** RFC 6749 §6: a refresh may ask for less than was granted, never for more. */
export function narrowScopes(
  granted: readonly string[],
  requested: readonly string[],
  identityScopes: ReadonlySet<string> = new Set(),
): string[] {
  if (requested.length === 0) return [...granted]
  for (const name of requested) {
    // Those about the person are held by their name only.
    const isHeld = identityScopes.has(name) ? granted.includes(name) : holdsScope(granted, name)
    if (!isHeld) {
      throw new InvalidScope(`The scope '${name}' was not granted to this refresh token`)
    }
  }
  return [...requested]
}

export function holdsScope(scopes: readonly string[], name: string): boolean {
  return scopes.includes(name) || scopes.includes(WILDCARD)
}

export function assertScopeDefinitions(scopes: ScopeDefinitions): void {
  for (const [name, description] of Object.entries(scopes)) {
    if (name === WILDCARD || !SCOPE_TOKEN.test(name)) {
      throw new TypeError(
        `scopes: ${JSON.stringify(name)} cannot be a scope name. Use printable ASCII without spaces, quotes or backslashes, and not '*', which always means all scopes.`,
      )
    }
    if (typeof description !== 'string' || description.trim() === '') {
      throw new TypeError(
        `scopes: '${name}' needs a description; people read it before they approve.`,
      )
    }
  }
}

/** Their checkboxes come back in one form, which has a limit. */
const MOST_OPTIONAL = 50

/** Those that people may leave out. */
export function parseOptionalScopes(
  names: readonly string[],
  known: { readonly defined: ReadonlySet<string>; readonly required: readonly string[] },
): ReadonlySet<string> {
  if (names.length > MOST_OPTIONAL) {
    throw new TypeError(`optionalScopes: there may be at most ${MOST_OPTIONAL}.`)
  }
  for (const name of names) {
    if (!known.defined.has(name)) {
      throw new TypeError(`optionalScopes: the scope '${name}' is not defined.`)
    }
    if (known.required.includes(name)) {
      throw new TypeError(`optionalScopes: nobody can leave out '${name}'.`)
    }
  }
  return new Set(names)
}
