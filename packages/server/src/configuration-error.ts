/** Half a configuration. The message is for a person at a terminal. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
}
