import { createServer } from 'node:net'

/**
 * Lowest port to try. Systems use higher ranges for outgoing connections, which could take a port
 * before it is used.
 */
const LOWEST = 20_000
const HIGHEST = 32_000

/** Finds a free port on the loopback interface, for a program that must be configured with one. */
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
