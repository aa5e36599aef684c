/**
 * An `Environment` of the SDK that points at this sandbox, without needing the package: the SDK
 * only reads these fields.
 */
export interface LoopbackEnvironment {
  /** `127.0.0.1` */
  readonly server: string
  /** Text, because the SDK joins it to the host. */
  readonly port: string
  /** Where the SDK would send somebody to connect a merchant; no such page exists here. */
  readonly authUrl: string
  /** Loopback needs no certificate. */
  readonly ssl: false
  /** The same server; it answers GraphQL with 404. */
  readonly graphQLServer: string
  /** The same port. */
  readonly graphQLPort: string
  /** A function in truth: the SDK calls it, although its declarations say string. */
  baseUrl: string
  /** A function in truth. */
  baseGraphQLUrl: string
  /** A function in truth. */
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
