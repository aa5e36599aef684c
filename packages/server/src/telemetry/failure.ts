/** Names a failure by its type, code or class, because its message may contain personal data. */
export function nameFailure(error: unknown): string {
  const { type, code, name } = Object(error) as Readonly<Record<string, unknown>>
  return [type, code, name].find((each): each is string => typeof each === 'string') ?? 'unknown'
}
