import { createHash } from 'node:crypto'
import type { SandboxStore } from '../../core/store/store.ts'
import type { StoreTable } from '../../core/store/table.ts'
import { StripeFault, withErrorDocsUrl } from '../wire/errors.ts'

interface KeyRow {
  id: string
  method: string
  path: string
  fingerprint: string
  status: number
  body: string
  requestId: string
  createdAt: number
}

const DAY_MS = 86_400_000
const MAX_KEYS = 20_000

/** Stores the first response to each idempotency key, and repeats it for a day. */
export class IdempotencyKeys {
  readonly #table: StoreTable<KeyRow>

  /** Idempotency keys of requests whose responses have not been sent yet. */
  readonly #inUse = new Set<string>()

  constructor(store: SandboxStore) {
    this.#table = store.table<KeyRow>('stripe.idempotency_keys')
  }

  /**
   * Marks an idempotency key as in use: other requests with this key are rejected until the
   * returned function is called.
   */
  hold(key: string): () => void {
    this.#inUse.add(key)
    return () => void this.#inUse.delete(key)
  }

  /**
   * Returns the stored response to an idempotency key. `null` if there is none.
   * @throws {StripeFault} If the key is in use, or was used with another path or other parameters.
   */
  find(key: string, method: string, path: string, body: Buffer, nowMs: number): KeyRow | null {
    if (key.length > 255) {
      throw keyFault('Idempotency keys can be at most 255 characters long.')
    }
    if (this.#inUse.has(key)) {
      throw new StripeFault(409, {
        type: 'idempotency_error',
        ...withErrorDocsUrl('idempotency_key_in_use'),
        message: `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}`,
      })
    }
    const row = this.#table.get(key)
    if (!row || nowMs - row.createdAt >= DAY_MS) return null
    if (row.method !== method || row.path !== path) {
      throw keyFault(
        `Keys for idempotent requests can only be used for the same endpoint they were first used for ('${path}' vs '${row.path}'). Try using a key other than '${key}' if you meant to execute a different request.`,
      )
    }
    if (row.fingerprint !== fingerprint(body)) {
      throw keyFault(
        `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      )
    }
    return row
  }

  remember(
    key: string,
    call: { method: string; path: string; body: Buffer; requestId: string; nowMs: number },
    response: { status: number; body: string },
  ): void {
    const { method, path, requestId, nowMs: createdAt } = call
    const { status, body } = response
    const row = { id: key, method, path, fingerprint: fingerprint(call.body), status, body }
    this.#table.set(key, { ...row, requestId, createdAt })
    this.#table.deleteOldest(() => this.#table.size > MAX_KEYS)
  }
}

function keyFault(message: string): StripeFault {
  return new StripeFault(400, { type: 'idempotency_error', message })
}

function fingerprint(body: Buffer): string {
  return createHash('sha256').update(body).digest('base64')
}
