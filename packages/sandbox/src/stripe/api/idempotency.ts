import { createHash } from 'node:crypto'
import type { Store } from '../../core/store/store.ts'
import type { Table } from '../../core/store/table.ts'
import { StripeFault, withDocs } from '../wire/errors.ts'

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
const KEPT = 20_000

/** Remembers the first response to each key for a day, and gives it again. */
export class IdempotencyKeys {
  readonly #table: Table<KeyRow>

  /** Keys of calls whose responses are on their way. */
  readonly #inUse = new Set<string>()

  constructor(store: Store) {
    this.#table = store.table<KeyRow>('stripe.idempotency_keys')
  }

  /** Refuses the key for other calls until the returned function is called: this one's response comes late. */
  hold(key: string): () => void {
    this.#inUse.add(key)
    return () => void this.#inUse.delete(key)
  }

  /** The remembered response; a refusal when the key was used for something else. */
  find(key: string, method: string, path: string, body: Buffer, nowMs: number): KeyRow | null {
    if (key.length > 255) {
      throw new StripeFault(400, {
        type: 'idempotency_error',
        message: 'Idempotency keys can be at most 255 characters long.',
      })
    }
    if (this.#inUse.has(key)) {
      throw new StripeFault(409, {
        type: 'idempotency_error',
        ...withDocs('idempotency_key_in_use'),
        message: `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}`,
      })
    }
    const row = this.#table.get(key)
    if (!row || nowMs - row.createdAt >= DAY_MS) return null
    if (row.method !== method || row.path !== path) {
      throw new StripeFault(400, {
        type: 'idempotency_error',
        message: `Keys for idempotent requests can only be used for the same endpoint they were first used for ('${path}' vs '${row.path}'). Try using a key other than '${key}' if you meant to execute a different request.`,
      })
    }
    if (row.fingerprint !== fingerprint(body)) {
      throw new StripeFault(400, {
        type: 'idempotency_error',
        message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      })
    }
    return row
  }

  remember(
    key: string,
    call: { method: string; path: string; body: Buffer; requestId: string; nowMs: number },
    response: { status: number; body: string },
  ): void {
    this.#table.set(key, {
      id: key,
      method: call.method,
      path: call.path,
      fingerprint: fingerprint(call.body),
      status: response.status,
      body: response.body,
      requestId: call.requestId,
      createdAt: call.nowMs,
    })
    if (this.#table.size <= KEPT) return
    for (const oldest of this.#table.values()) {
      this.#table.delete(oldest.id)
      break
    }
  }
}

function fingerprint(body: Buffer): string {
  return createHash('sha256').update(body).digest('base64')
}
