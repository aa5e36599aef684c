/**
 * An `Environment` of Braintree's SDK that points to this sandbox. It is a plain object with the
 * fields that the SDK reads, so the SDK need not be imported.
 */
export interface LoopbackEnvironment {
  /** Host of the API, always `127.0.0.1`. */
  readonly server: string
  /** Port of the API as text, because the SDK concatenates it with the host. */
  readonly port: string
  /**
   * URL of the page to which the SDK would send a user to connect a merchant by OAuth. The sandbox
   * has no page there.
   */
  readonly authUrl: string
  /** Always `false`: connections to the sandbox on loopback are plain HTTP. */
  readonly ssl: false
  /** Host of GraphQL requests. The sandbox answers them with 404. */
  readonly graphQLServer: string
  /** Port of GraphQL requests, equal to `port`. */
  readonly graphQLPort: string
  /**
   * Returns the base URL of API calls. The SDK calls this function, although the SDK's type
   * declares a string.
   */
  baseUrl: string
  /**
   * Returns the base URL of GraphQL requests. The SDK calls this function, although the SDK's type
   * declares a string.
   */
  baseGraphQLUrl: string
  /**
   * Returns the URI scheme, `http://`. The SDK calls this function, although the SDK's type
   * declares a string.
   */
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
