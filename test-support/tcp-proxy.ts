import { connect, createServer, type Server, type Socket } from 'node:net'

export interface TcpProxy {
  /** The URL given, but through the proxy. */
  readonly url: string
  /** Cuts every connection and refuses new ones: the server is down. */
  cut(): Promise<void>
  /** Keeps every connection and accepts new ones, but passes nothing on: the network is gone. */
  stall(): void
  /** Passes nothing more on for the connections there are, as a router that forgot them; new ones work. */
  forget(): void
  /**
   * From the first request on that holds this text, what the server answers is not passed on: it has done
   * what it was asked for, and nobody hears of it.
   */
  holdAnswersAfter(text: string): void
  /** Everything works again; connections that were stalled are cut. */
  heal(): Promise<void>
  /** New connections lead to the server of this URL, as after a failover; those there are stay where they lead. */
  leadTo(url: string): void
  close(): Promise<void>
}

/** Stands between a client and the server of `url`, to take the server away and bring it back. */
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
    holdAnswersAfter(text) {
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
