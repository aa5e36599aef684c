import { InvalidScope } from './errors.ts'

/** Description of each scope by name, shown on the approval screen in this order. */
export type ScopeDefinitions = Readonly<Record<string, string>>

/** Stands for all scopes. Only tokens of the password grant may have it. */
export const WILDCARD_SCOPE = '*'

/** RFC 6749 §3.3: scope-token = 1*( %x21 / %x23-5B / %x5D-7E ). */
const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/

export interface ScopePolicy {
  readonly defined: ReadonlySet<string>
  /** Scopes that the client is limited to. `null` if it may request any defined scope. */
  readonly client: readonly string[] | null
  readonly wildcard: 'allowed' | 'refused'
}

export function parseScope(text: string | undefined): string[] {
  if (!text) return []
  if (!text.includes(' ')) return [text]
  return [...new Set(text.split(' ').filter((name) => name !== ''))]
}

/**
 * Returns the requested scopes if the client may have all of them.
 * @throws InvalidScope which names the first scope that is not allowed
 */
export function resolveScopes(requested: readonly string[], policy: ScopePolicy): string[] {
  for (const name of requested) {
    if (!SCOPE_TOKEN.test(name))
      throw new InvalidScope('The scope contains characters that are not allowed')
    if (name === WILDCARD_SCOPE) {
      if (policy.wildcard === 'allowed' && policy.client === null) continue
      throw new InvalidScope('The scope * is available only with the password grant')
    }
    if (!policy.defined.has(name)) {
      throw new InvalidScope(`The scope '${name}' is not defined`, {
        hint: 'GET /oauth/scopes lists the defined scopes',
      })
    }
    if (policy.client && !policy.client.includes(name)) {
      throw new InvalidScope(`This client may not request the scope '${name}'`)
    }
  }
  return [...requested]
}

/**
 * Returns the scopes for a refresh: the granted ones, or the requested subset of them (RFC 6749
 * §6).
 * @throws InvalidScope if a requested scope was not granted
 */
export function narrowScopes(
  granted: readonly string[],
  requested: readonly string[],
  identityScopes: ReadonlySet<string> = new Set(),
): string[] {
  if (requested.length === 0) return [...granted]
  for (const name of requested) {
    // The wildcard does not include scopes about the person.
    const isHeld = identityScopes.has(name) ? granted.includes(name) : holdsScope(granted, name)
    if (!isHeld) {
      throw new InvalidScope(`The scope '${name}' was not granted to this refresh token`)
    }
  }
  return [...requested]
}

export function holdsScope(scopes: readonly string[], name: string): boolean {
  return scopes.includes(name) || scopes.includes(WILDCARD_SCOPE)
}

/** Validates the option `machineScopes`. Its names must differ from those that users can grant. */
export function parseMachineScopes(
  scopes: ScopeDefinitions,
  ofUsers: ReadonlySet<string>,
): ScopeDefinitions {
  assertScopeDefinitions(scopes, 'machineScopes')
  const both = Object.keys(scopes).find((name) => ofUsers.has(name))
  if (both === undefined) return { ...scopes }
  throw new TypeError(`machineScopes: '${both}' is also a scope that users can grant. Rename one.`)
}

export function assertScopeDefinitions(scopes: ScopeDefinitions, option = 'scopes'): void {
  for (const [name, description] of Object.entries(scopes)) {
    if (name === WILDCARD_SCOPE || !SCOPE_TOKEN.test(name)) {
      throw new TypeError(
        `${option}: ${JSON.stringify(name)} cannot be a scope name. Use printable ASCII without spaces, quotes or backslashes, and not '*', which always means all scopes.`,
      )
    }
    if (typeof description !== 'string' || description.trim() === '') {
      throw new TypeError(
        `${option}: '${name}' needs a description; people read it before they approve.`,
      )
    }
  }
}

/** Validates the option `defaultScopes`. */
export function parseDefaultScopes(
  names: readonly string[],
  known: { readonly defined: ReadonlySet<string>; readonly identity: ReadonlySet<string> },
): readonly string[] {
  for (const name of names) {
    if (!known.defined.has(name)) {
      throw new TypeError(`defaultScopes: the scope '${name}' is not defined.`)
    }
    if (known.identity.has(name)) {
      throw new TypeError(
        `defaultScopes: '${name}' is about the user's identity, so clients must request it by name.`,
      )
    }
  }
  return [...new Set(names)]
}

/**
 * Maximum number of optional scopes. Their checkboxes are submitted in one form, and the number of
 * form fields is limited.
 */
const MAX_OPTIONAL = 50

/** Validates the option `optionalScopes`. */
export function parseOptionalScopes(
  names: readonly string[],
  known: { readonly defined: ReadonlySet<string>; readonly required: readonly string[] },
): ReadonlySet<string> {
  if (names.length > MAX_OPTIONAL) {
    throw new TypeError(`optionalScopes: at most ${MAX_OPTIONAL} scopes are allowed.`)
  }
  for (const name of names) {
    if (!known.defined.has(name)) {
      throw new TypeError(`optionalScopes: the scope '${name}' is not defined.`)
    }
    if (known.required.includes(name)) {
      throw new TypeError(`optionalScopes: '${name}' cannot be optional.`)
    }
  }
  return new Set(names)
}
