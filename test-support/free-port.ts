import { createServer } from 'node:net'

/** Below those that systems give to outgoing connections: one of these could take the port before it is used. */
const LOWEST = 20_000
const HIGHEST = 32_000

/** A port of the loopback on which nobody listens, for a program that has to be told one. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST))
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
