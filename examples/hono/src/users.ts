import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

export interface User {
  readonly id: string
  readonly email: string
}

interface Account extends User {
  readonly salt: Buffer
  readonly hash: Buffer
}

const derive = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  size: number,
) => Promise<Buffer>

/** Stands for your own user table and sessions; here both live in memory. */
export class DemoUsers {
  readonly #accounts = new Map<string, Account>()
  readonly #sessions = new Map<string, string>()

  async add(id: string, email: string, password: string): Promise<void> {
    const salt = randomBytes(16)
    this.#accounts.set(id, { id, email, salt, hash: await derive(password, salt, 32) })
  }

  async findById(id: string): Promise<User | null> {
    const account = this.#accounts.get(id)
    return account ? { id: account.id, email: account.email } : null
  }

  async findByCredentials(email: string, password: string): Promise<User | null> {
    const account = [...this.#accounts.values()].find((candidate) => candidate.email === email)
    // The same work for an unknown address, so that its absence does not show in the time taken.
    const given = await derive(password, account?.salt ?? Buffer.alloc(16), 32)
    if (!account || !timingSafeEqual(given, account.hash)) return null
    return { id: account.id, email: account.email }
  }

  async fromRequest(request: Request): Promise<{ id: string; sessionId: string } | null> {
    const sessionId = /(?:^|; )session=([\w-]+)/.exec(request.headers.get('cookie') ?? '')?.[1]
    const id = sessionId && this.#sessions.get(sessionId)
    return sessionId && id ? { id, sessionId } : null
  }

  startSession(user: User): string {
    const sessionId = randomBytes(32).toString('base64url')
    this.#sessions.set(sessionId, user.id)
    return sessionId
  }

  endSession(sessionId: string): void {
    this.#sessions.delete(sessionId)
  }
}
