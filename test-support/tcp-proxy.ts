import { connect, createServer, type Server, type Socket } from 'node:net'

export interface TcpProxy {
  /** The given URL, routed through the proxy. */
  readonly url: string
  /** Simulates a server that is down: closes every connection and refuses new ones. */
  cut(): Promise<void>
  /**
   * Simulates a lost network: keeps every connection and accepts new ones, but forwards nothing.
   */
  stall(): void
  /**
   * Stops forwarding for the existing connections, as a router that lost its state would. New
   * connections work.
   */
  forget(): void
  /**
   * Withholds the server's responses from the first request that contains this text on: the server
   * has done the work, but the client does not learn of it.
   */
  withholdResponsesAfter(text: string): void
  /** Restores normal operation. Stalled connections are closed. */
  heal(): Promise<void>
  /**
   * Directs new connections to the server of this URL, as after a failover. Existing connections
   * are not affected.
   */
  leadTo(url: string): void
  close(): Promise<void>
}

/** Starts a proxy between a client and the server of `url`, to simulate outages. */
export async function startTcpProxy(url: string): Promise<TcpProxy> {
  let target = new URL(url)
  const sockets = new Set<Socket>()
  const forgotten = new WeakSet<Socket>()
  let stalled = false
  let awaited: string | null = null
  let holding = false
  let server: Server | undefined
  let port = 0

  function serve(client: Socket): void {
    const upstream = connect(Number(target.port), target.hostname)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from)
      from.on('data', (chunk) => {
        if (awaited !== null && from === client && chunk.includes(awaited)) holding = true
        const isHeld = holding && from === upstream
        if (!stalled && !isHeld && !forgotten.has(from)) to.write(chunk)
      })
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        if (!stalled && !forgotten.has(from)) to.destroy()
      })
    }
  }

  function listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      server = createServer(serve)
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => {
        const address = server?.address()
        if (typeof address === 'object' && address) port = address.port
        resolve()
      })
    })
  }

  async function cut(): Promise<void> {
    const closing = server
    server = undefined
    const closed = new Promise((resolve) => (closing ? closing.close(resolve) : resolve(null)))
    for (const socket of sockets) socket.destroy()
    await closed
  }

  await listen()
  const proxied = new URL(url)
  proxied.hostname = '127.0.0.1'
  proxied.port = String(port)
  return {
    url: proxied.href,
    cut,
    stall() {
      stalled = true
    },
    forget() {
      for (const socket of sockets) forgotten.add(socket)
    },
    withholdResponsesAfter(text) {
      awaited = text
    },
    leadTo(other) {
      target = new URL(other)
    },
    async heal() {
      stalled = false
      awaited = null
      holding = false
      await cut()
      await listen()
    },
    close: cut,
  }
}
