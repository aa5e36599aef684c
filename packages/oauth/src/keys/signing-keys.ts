import type { Clock } from '../clock.ts'
import { generateSigningKey, type SigningAlgorithm } from '../crypto.ts'
import type { Logger } from '../logger.ts'
import type { StoredKey } from '../storage/records.ts'
import type { KeyRepository } from '../storage/repositories.ts'
import { type DerivedKeyring, parseRetainedKeys, type RetainedKeys } from './keyring.ts'
import { createEncrypter } from './seal.ts'
import { decryptPrivateJwk, deriveKeyId, openSigningKey, type SigningKey } from './signing-key.ts'

export interface SigningKeys {
  load(): Promise<void>
  /**
   * Marks the keys in memory as outdated, so that the next `reload()` reads them. Called when
   * another process has added or revoked a signing key.
   */
  markOutdated(): void
  /**
   * Reads the signing keys again if another process has added or revoked one. Returns `null`
   * without reading if nothing has changed.
   */
  reload(): Promise<void> | null
  /**
   * Returns the number of signing keys revoked so far. When it increases, cached results of earlier
   * verifications may be invalid.
   */
  removals(): number
  /** All algorithms that the server has keys for. */
  readonly algorithms: ReadonlySet<SigningAlgorithm>
  /**
   * Returns the newest active signing key of an algorithm. The default is the algorithm of access
   * tokens.
   */
  current(algorithm?: SigningAlgorithm): SigningKey
  /**
   * Finds a signing key by the exact JWT header of an access token. All access tokens with the same
   * key and `typ` have the same header.
   */
  findByHeader(header: string): SigningKey | null
  /**
   * Finds a signing key by its id. For an unknown id, reads the keys again, but only from time to
   * time, so that made-up ids cause no load.
   */
  findOrReload(kid: string): Promise<SigningKey | null>
  all(): readonly SigningKey[]
  /**
   * Creates a signing key and publishes it immediately. The server signs with it after the period
   * `keyPublishedAhead`; if `immediately` is set, without this wait.
   */
  rotate(options?: KeyRotation): Promise<SigningKey>
  /**
   * Revokes a signing key that was leaked: all tokens signed with it become invalid. Returns
   * `false` if there is no such key.
   */
  revoke(kid: string): Promise<boolean>
  /** Replaces all signing keys. Every token signed before becomes invalid. */
  replaceAll(): Promise<void>
  /**
   * Encrypts all stored signing keys with the first of the server's secrets, and stores the derived
   * keys of the other secrets. Returns how many rows were changed.
   */
  reseal(): Promise<number>
  /**
   * Counts the rows that `reseal()` would change. If the count is 0, older secrets of the server
   * can be removed.
   */
  toReseal(): Promise<number>
}

/** Options of a key rotation. */
export interface KeyRotation {
  /** Algorithm of the new key. By default, the algorithm of access tokens. */
  readonly algorithm?: SigningAlgorithm
  /**
   * Whether the new key signs immediately, instead of waiting until every process and API can have
   * read it.
   * @default false
   */
  readonly immediately?: boolean
}

export interface SigningKeyOptions {
  readonly repository: KeyRepository
  readonly secrets: readonly string[]
  readonly keyring: Pick<DerivedKeyring, 'retain' | 'toRetain'>
  /** Default algorithm of access tokens. Resources and clients may use another one. */
  readonly algorithm: SigningAlgorithm
  /** All algorithms in use. The server has a key for each. */
  readonly algorithms: ReadonlySet<SigningAlgorithm>
  /** Possible `typ` values of access tokens. */
  readonly accessTokenTypes: readonly string[]
  readonly publishedAheadSeconds: number
  /** Returns the latest time at which anything that is created now expires. */
  readonly latestExpiry: (now: Date) => Date
  readonly clock: Clock
  readonly logger: Logger
}

const MIN_RELOAD_INTERVAL = 500
const RETAINED = 'secret'

const isRetained = ({ algorithm }: StoredKey) => algorithm === RETAINED

export function createSigningKeys(options: SigningKeyOptions): SigningKeys {
  const { repository, algorithm, clock } = options
  const seal = createEncrypter(options.secrets)
  let keys: readonly SigningKey[] = []
  let byKid = new Map<string, SigningKey>()
  let byHeader = new Map<string, SigningKey>()
  let removals = 0
  let reads = 0
  let newestRead = 0
  let changeExpected = false
  let reloadedAt = Number.NEGATIVE_INFINITY
  let nextReload: Promise<void> | null = null

  async function readAll(): Promise<void> {
    reads += 1
    const thisRead = reads
    changeExpected = false
    try {
      const stored = await repository.list()
      const signing = stored.filter((key) => !isRetained(key))
      const opened = await Promise.all(signing.map((key) => byKid.get(key.kid) ?? tryOpen(key)))
      const found = opened.filter((key) => key !== null)
      const kept = await Promise.all(stored.filter(isRetained).map(tryOpenRetained))
      // A slow read must not bring back keys that a later read has found deleted.
      if (thisRead > newestRead) {
        take(found)
        const now = clock.now().getTime()
        options.keyring.retain(
          kept.filter((keys) => keys !== null).filter(({ until }) => until > now),
        )
      }
      newestRead = Math.max(newestRead, thisRead)
    } catch (error) {
      changeExpected = true
      throw error
    }
  }

  /**
   * Decrypts a key. Returns `null` if a running process cannot, because another process encrypted
   * it with a secret unknown here.
   */
  const tryOpen = (stored: StoredKey) => orSkip(openSigningKey(stored, seal))
  const tryOpenRetained = async (stored: StoredKey) =>
    orSkip(decryptPrivateJwk(stored, seal).then(parseRetainedKeys))

  async function orSkip<Key>(opening: Promise<Key>): Promise<Key | null> {
    try {
      return await opening
    } catch (error) {
      if (newestRead === 0) throw error
      options.logger.error(
        'A new signing key could not be loaded, so its tokens are rejected',
        error,
      )
      return null
    }
  }

  function take(found: SigningKey[]): void {
    const before = byKid
    keys = found.sort((a, b) => +a.activeFrom - +b.activeFrom)
    byKid = new Map(keys.map((key) => [key.kid, key]))
    byHeader = new Map(
      keys.flatMap((key) => options.accessTokenTypes.map((typ) => [key.header(typ), key] as const)),
    )
    for (const kid of before.keys()) if (!byKid.has(kid)) removals += 1
  }

  /**
   * Reads the keys again. Callers that arrive before the read starts share it; later ones wait for
   * the next.
   */
  function reloadThrottled(): Promise<void> {
    nextReload ??= pause(reloadedAt + MIN_RELOAD_INTERVAL - performance.now()).then(() => {
      nextReload = null
      reloadedAt = performance.now()
      return readAll()
    })
    return nextReload
  }

  async function create(of: SigningAlgorithm, activeFrom: Date): Promise<StoredKey> {
    const { publicJwk, privateJwk } = await generateSigningKey(of)
    const publicText = JSON.stringify(publicJwk)
    return {
      kid: deriveKeyId(publicText),
      algorithm: of,
      publicJwk: publicText,
      sealedPrivateJwk: await seal.close(JSON.stringify(privateJwk)),
      createdAt: clock.now(),
      activeFrom,
    }
  }

  /**
   * Builds the row for the derived keys of a removed secret. It is in the same table as the signing
   * keys, under an id that no signing key has.
   */
  async function buildRetainedRow(keys: RetainedKeys): Promise<StoredKey> {
    const createdAt = clock.now()
    const sealedPrivateJwk = await seal.close(JSON.stringify(keys))
    const none = { algorithm: RETAINED, publicJwk: '{}', createdAt, activeFrom: createdAt }
    return { ...none, kid: `${RETAINED}-${keys.id}`, sealedPrivateJwk }
  }

  /**
   * Returns the key that has signed access tokens so far. It continues until the first key of a new
   * algorithm is active.
   */
  function predecessor(active: readonly SigningKey[]): SigningKey | undefined {
    return active.findLast((key) => !options.algorithms.has(key.algorithm)) ?? active.at(-1)
  }

  const publishedAhead = () =>
    new Date(clock.now().getTime() + options.publishedAheadSeconds * 1000)

  function notice() {
    const at = clock.now()
    return { kind: 'keys', subject: 'changed', at, until: at } as const
  }

  const self: SigningKeys = {
    async load() {
      await readAll()
      // If other processes already sign, all of them must have read a new key before it signs.
      const known = keys.length > 0
      for (const each of options.algorithms) {
        const waits = known && each === algorithm
        await repository.addFirst(each, () => create(each, waits ? publishedAhead() : clock.now()))
      }
      await readAll()
    },
    markOutdated() {
      changeExpected = true
    },
    reload: () => (changeExpected ? readAll() : null),
    removals: () => removals,
    algorithms: options.algorithms,
    current(of = algorithm) {
      const now = clock.now().getTime()
      const active = keys.filter((key) => key.activeFrom.getTime() <= now)
      const key =
        active.findLast((each) => each.algorithm === of) ??
        (of === algorithm ? predecessor(active) : undefined) ??
        keys.find((each) => each.algorithm === of)
      if (!key) throw new Error(`There is no ${of} signing key; was ready() awaited?`)
      return key
    },
    findByHeader: (header) => byHeader.get(header) ?? null,
    async findOrReload(kid) {
      if (!byKid.has(kid)) await reloadThrottled()
      return byKid.get(kid) ?? null
    },
    all: () => keys,
    async rotate({ algorithm: of = algorithm, immediately = false } = {}) {
      const stored = await create(of, immediately ? clock.now() : publishedAhead())
      await repository.add(stored, notice())
      // The key exists now. An error would make the caller repeat the rotation, which would create
      // another key; instead, the next reload reads this one.
      await readAll().catch((error) =>
        options.logger.error('The signing keys could not be read after a rotation', error),
      )
      return byKid.get(stored.kid) ?? openSigningKey(stored, seal)
    },
    async revoke(kid) {
      const key = byKid.get(kid)
      if (!key) return false
      // Prevents an older key from becoming the current one again.
      const of = [...options.algorithms].find((each) => self.current(each).kid === kid)
      const last = keys.every((other) => other.kid === kid || other.algorithm !== key.algorithm)
      if (of) await self.rotate({ algorithm: of, immediately: true })
      else if (last && options.algorithms.has(key.algorithm)) {
        await self.rotate({ algorithm: key.algorithm, immediately: true })
      }
      await repository.remove(kid, notice())
      await readAll()
      return true
    },
    async replaceAll() {
      const made = [...options.algorithms].map((each) => create(each, clock.now()))
      await repository.replaceAll(await Promise.all(made), notice())
      await readAll()
    },
    async reseal() {
      let resealed = 0
      for (const key of await repository.list()) {
        if (await seal.isCurrent(key.sealedPrivateJwk)) continue
        const sealed = await seal.close(await decryptPrivateJwk(key, seal))
        if (await repository.reseal(key.kid, key.sealedPrivateJwk, sealed)) resealed += 1
      }
      const stored = new Set((await repository.list()).map(({ kid }) => kid))
      for (const keys of options.keyring.toRetain(options.latestExpiry(clock.now()))) {
        const kept = await buildRetainedRow(keys)
        if (stored.has(kept.kid)) continue
        await repository.add(kept, notice())
        resealed += 1
      }
      return resealed
    },
    async toReseal() {
      const stored = await repository.list()
      const current = await Promise.all(stored.map((key) => seal.isCurrent(key.sealedPrivateJwk)))
      const names = new Set(stored.map(({ kid }) => kid))
      const unkept = options.keyring
        .toRetain(options.latestExpiry(clock.now()))
        .filter(({ id }) => !names.has(`${RETAINED}-${id}`))
      return current.filter((is) => !is).length + unkept.length
    },
  }
  return self
}

async function pause(milliseconds: number): Promise<void> {
  if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds))
}
