import { Server } from 'node:net'

/**
 * Prevents servers from listening in this process: a module that starts the application would
 * otherwise serve requests for as long as the command runs, or fail because the port is in use.
 */
export function preventServers(): {
  /**
   * Describes the address of the first server that tried to listen. `null` if there is none. Waits
   * for servers that start just after the module was loaded.
   */
  first(): Promise<string | null>
} {
  const addresses: string[] = []
  Server.prototype.listen = function listen(this: Server, ...args: unknown[]) {
    addresses.push(describe(args))
    return this
  }
  return {
    async first() {
      await new Promise((resolve) => setTimeout(resolve, 20))
      return addresses[0] ?? null
    },
  }
}

/** Describes the arguments of `listen()`: a port, a path, or options. */
function describe([first]: readonly unknown[]): string {
  const { port, path } = (
    typeof first === 'object' && first !== null
      ? first
      : typeof first === 'string'
        ? { path: first }
        : { port: first }
  ) as { readonly port?: unknown; readonly path?: unknown }
  return path === undefined ? `on port ${typeof port === 'number' ? port : 0}` : `on ${path}`
}
