/** Thrown if the configuration is incomplete or invalid. The message is meant for people. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
  /** One sentence per mistake, with its fix. */
  readonly problems: readonly string[]

  constructor(
    message: string,
    {
      problems = [],
      why = null,
    }: { readonly problems?: readonly string[]; readonly why?: string | null } = {},
  ) {
    const list =
      problems.length > 0 ? [`${message}:`, ...problems.map((each) => `  ${each}`)] : [message]
    super([...list, ...(why === null ? [] : [why])].join('\n'))
    this.problems = problems
  }
}

/**
 * Returns the TypeError with which a library rejects its options as a `ConfigurationError`, and any
 * other error as it is.
 */
export function asConfigurationError(error: unknown): unknown {
  if (!(error instanceof TypeError)) return error
  return new ConfigurationError('The configuration is invalid', { problems: [error.message] })
}
