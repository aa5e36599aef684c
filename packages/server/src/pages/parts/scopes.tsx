import type { FC } from 'hono/jsx'

/** Scope name to the description people read. */
export type Scopes = Readonly<Record<string, string>>

/** What something may do, in people's words; the name alone once a scope is defined no more. */
export const ScopeList: FC<{ names: readonly string[]; scopes: Scopes }> = ({ names, scopes }) =>
  names.length === 0 ? (
    <span class="quiet-text">See who you are</span>
  ) : (
    <ul class="plain">
      {names.map((name) => (
        <li>{describeScope(name, scopes)}</li>
      ))}
    </ul>
  )

export function describeScope(name: string, scopes: Scopes): string {
  return (Object.hasOwn(scopes, name) ? scopes[name] : undefined) ?? name
}
