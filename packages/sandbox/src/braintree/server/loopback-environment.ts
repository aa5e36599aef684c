/**
 * The SDK's `Environment`, pointing at this sandbox. It needs no import of the SDK, which only
 * reads these fields.
 */
export interface LoopbackEnvironment {
  /** Host: `127.0.0.1`. */
  readonly server: string
  /** Port as text, because the SDK concatenates it with the host. */
  readonly port: string
  /**
   * Page to which the SDK would send a user to connect a merchant. The sandbox has none.
   */
  readonly authUrl: string
  /** Plain HTTP: loopback needs no certificate. */
  readonly ssl: false
  /** Host of GraphQL requests. The sandbox answers them with 404. */
  readonly graphQLServer: string
  /** Port of GraphQL requests, equal to `port`. */
  readonly graphQLPort: string
  /**
   * Returns the base URL of calls. A function in spite of its type: the SDK calls it, although its
   * own type declaration says string.
   */
  baseUrl: string
  /** Returns the base URL of GraphQL requests. A function in spite of its type, like `baseUrl`. */
  baseGraphQLUrl: string
  /** Returns the URI scheme, `http://`. A function in spite of its type, like `baseUrl`. */
  uriScheme: string
}

export function createEnvironment(host: string, port: number): LoopbackEnvironment {
  const base = `http://${host}:${port}`
  // The SDK calls these three as functions; its type declarations say string.
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
