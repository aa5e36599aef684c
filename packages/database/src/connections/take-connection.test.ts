import { expect, it } from 'vitest'
import { WaitedTooLong } from '../errors.ts'
import { takeConnection } from './take-connection.ts'

type Done = (error: unknown, connection: Connection | undefined) => void

class Connection {
  released = 0
  release(): void {
    this.released++
  }
}

it('takeConnection() returns a connection from the pool', async () => {
  const connection = new Connection()
  expect(await takeConnection<Connection>(1000, (done) => done(null, connection))).toBe(connection)
  expect(connection.released).toBe(0)
})

it('takeConnection() throws the reason why the pool has no connection', async () => {
  const reason = new Error('refused')
  await expect(takeConnection(1000, (done) => done(reason, undefined))).rejects.toBe(reason)
})

it('takeConnection() fails after the timeout, and returns a connection that arrives too late to the pool', async () => {
  const connection = new Connection()
  let give: Done = () => {}
  const taken = takeConnection<Connection>(1, (done) => {
    give = done
  })
  await expect(taken).rejects.toThrow(WaitedTooLong)
  give(null, connection)
  expect(connection.released).toBe(1)
})
