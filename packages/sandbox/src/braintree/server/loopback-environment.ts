/**
 * An `Environment` of the SDK that points at this sandbox, without needing the package: the SDK
 * only reads these fields.
 */
export interface LoopbackEnvironment {
  readonly server: string
  readonly port: string
  readonly authUrl: string
  readonly ssl: false
  readonly graphQLServer: string
  readonly graphQLPort: string
  baseUrl: string
  baseGraphQLUrl: string
  uriScheme: string
}

export function createEnvironment(host: string, port: number): LoopbackEnvironment {
  const base = `http://${host}:${port}`
  // The SDK calls these three; its type declarations take them for strings.
  const method = (value: string) => (() => value) as unknown as string
  return {
    server: host,
    port: String(port),
    authUrl: base,
    ssl: false,
    graphQLServer: host,
    graphQLPort: String(port),
    baseUrl: method(base),
    baseGraphQLUrl: method(`${base}/graphql`),
    uriScheme: method('http://'),
  }
}
