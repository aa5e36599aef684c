import type { Clock } from '../clock.ts'
import { generateSigningKey, type SigningAlgorithm } from '../crypto.ts'
import type { Logger } from '../logger.ts'
import type { StoredKey } from '../storage/records.ts'
import type { KeyRepository } from '../storage/repositories.ts'
import { type KeptKeys, type Keyring, parseKeptKeys } from './keyring.ts'
import { createSeal } from './seal.ts'
import { keyIdOf, open, type SigningKey, unseal } from './signing-key.ts'

export interface SigningKeys {
  load(): Promise<void>
  /** Another process has added or taken back a key: `reload()` is due. */
  expectChange(): void
  /** Takes in what another process has added or taken back; null when nothing is due. */
  reload(): Promise<void> | null
  /** How often keys were taken back: what was verified before may not be genuine any more. */
  removals(): number
  /** Those that there are keys for. */
  readonly algorithms: ReadonlySet<SigningAlgorithm>
  /** The youngest key of an algorithm that is already active. Default: that of access tokens. */
  current(algorithm?: SigningAlgorithm): SigningKey
  /** By the header of an access token, which a key's own tokens all have alike. */
  findByHeader(header: string): SigningKey | null
  /** For a key id never seen: waits for a new look, of which there are few, so that strangers cause no load. */
  findOrReload(kid: string): Promise<SigningKey | null>
  all(): readonly SigningKey[]
  /** A new key, published now and signing later, or at once. */
  rotate(options?: KeyRotation): Promise<SigningKey>
  /** Takes a key back: every token it signed fails. For a key that leaked. */
  revoke(kid: string): Promise<boolean>
  /** Takes every key back, and signs with new ones: no token that was signed before is genuine. */
  replaceAll(): Promise<void>
  /** Seals all that is stored with the first secret, and keeps the keys of the others. */
  reseal(): Promise<number>
  /** How much `reseal()` has to do before the older secrets may go. */
  toReseal(): Promise<number>
}

/** Which key gets a successor, and when. */
export interface KeyRotation {
  /** Default: that of access tokens. */
  readonly algorithm?: SigningAlgorithm
  /** Without waiting until everybody has read the new key. */
  readonly immediately?: boolean
}

export interface SigningKeyOptions {
  readonly repository: KeyRepository
  readonly secrets: readonly string[]
  readonly keyring: Pick<Keyring, 'keep' | 'toKeep'>
  /** Of access tokens, unless a resource or a client wants another. */
  readonly algorithm: SigningAlgorithm
  /** All that something is signed with: of each there is a key. */
  readonly algorithms: ReadonlySet<SigningAlgorithm>
  /** What access tokens may have as `typ`. */
  readonly accessTokenTypes: readonly string[]
  readonly publishedAheadSeconds: number
  /** Until when something may live that is made now. */
  readonly lastLife: (now: Date) => Date
  readonly clock: Clock
  readonly logger: Logger
}

const LOOK_AT_MOST_EVERY = 500
const KEPT = 'secret'

const isKept = ({ algorithm }: StoredKey) => algorithm === KEPT

export function createSigningKeys(options: SigningKeyOptions): SigningKeys {
  const { repository, algorithm, clock } = options
  const seal = createSeal(options.secrets)
  let keys: readonly SigningKey[] = []
  let byKid = new Map<string, SigningKey>()
  let byHeader = new Map<string, SigningKey>()
  let removals = 0
  let reads = 0
  let newestRead = 0
  let changeExpected = false
  let lookedAt = Number.NEGATIVE_INFINITY
  let nextLook: Promise<void> | null = null

  async function readAll(): Promise<void> {
    reads += 1
    const thisRead = reads
    changeExpected = false
    try {
      const stored = await repository.list()
      const signing = stored.filter((key) => !isKept(key))
      const opened = await Promise.all(signing.map((key) => byKid.get(key.kid) ?? tryOpen(key)))
      const found = opened.filter((key) => key !== null)
      const kept = await Promise.all(stored.filter(isKept).map(tryOpenKept))
      // A slow read must not bring back what a later one has found gone.
      if (thisRead > newestRead) {
        take(found)
        const now = clock.now().getTime()
        options.keyring.keep(
          kept.filter((keys) => keys !== null).filter(({ until }) => until > now),
        )
      }
      newestRead = Math.max(newestRead, thisRead)
    } catch (error) {
      changeExpected = true
      throw error
    }
  }

  /** Null for a key that another process has sealed with a secret unknown here, once this one runs. */
  const tryOpen = (stored: StoredKey) => orLeaveOut(open(stored, seal))
  const tryOpenKept = async (stored: StoredKey) =>
    orLeaveOut(unseal(stored, seal).then(parseKeptKeys))

  async function orLeaveOut<Key>(opening: Promise<Key>): Promise<Key | null> {
    try {
      return await opening
    } catch (error) {
      if (newestRead === 0) throw error
      options.logger.error('A new signing key is left out, and its tokens are refused', error)
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

  /** Shared by all who ask before it begins; nobody gets the result of one that began earlier. */
  function look(): Promise<void> {
    nextLook ??= pause(lookedAt + LOOK_AT_MOST_EVERY - performance.now()).then(() => {
      nextLook = null
      lookedAt = performance.now()
      return readAll()
    })
    return nextLook
  }

  async function create(of: SigningAlgorithm, activeFrom: Date): Promise<StoredKey> {
    const { publicJwk, privateJwk } = await generateSigningKey(of)
    const publicText = JSON.stringify(publicJwk)
    return {
      kid: keyIdOf(publicText),
      algorithm: of,
      publicJwk: publicText,
      sealedPrivateJwk: await seal.close(JSON.stringify(privateJwk)),
      createdAt: clock.now(),
      activeFrom,
    }
  }

  /** Those of a dropped secret stand beside the signing keys, under a name that no key has. */
  async function storedKept(keys: KeptKeys): Promise<StoredKey> {
    const createdAt = clock.now()
    const sealedPrivateJwk = await seal.close(JSON.stringify(keys))
    const none = { algorithm: KEPT, publicJwk: '{}', createdAt, activeFrom: createdAt }
    return { ...none, kid: `${KEPT}-${keys.id}`, sealedPrivateJwk }
  }

  /** Until the first key of another algorithm signs, what has signed access tokens before goes on. */
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
      // Where others have signed so far, everybody must have read the new key before it signs.
      const known = keys.length > 0
      for (const each of options.algorithms) {
        const waits = known && each === algorithm
        await repository.addFirst(each, () => create(each, waits ? publishedAhead() : clock.now()))
      }
      await readAll()
    },
    expectChange() {
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
      if (!byKid.has(kid)) await look()
      return byKid.get(kid) ?? null
    },
    all: () => keys,
    async rotate({ algorithm: of = algorithm, immediately = false } = {}) {
      const key = await create(of, immediately ? clock.now() : publishedAhead())
      await repository.add(key, notice())
      await readAll()
      const added = byKid.get(key.kid)
      if (!added) throw new Error(`The new signing key ${key.kid} was not stored`)
      return added
    },
    async revoke(kid) {
      const key = byKid.get(kid)
      if (!key) return false
      // An older one must not sign again in its place.
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
        const sealed = await seal.close(await unseal(key, seal))
        if (await repository.reseal(key.kid, key.sealedPrivateJwk, sealed)) resealed += 1
      }
      const stored = new Set((await repository.list()).map(({ kid }) => kid))
      for (const keys of options.keyring.toKeep(options.lastLife(clock.now()))) {
        const kept = await storedKept(keys)
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
        .toKeep(options.lastLife(clock.now()))
        .filter(({ id }) => !names.has(`${KEPT}-${id}`))
      return current.filter((is) => !is).length + unkept.length
    },
  }
  return self
}

async function pause(milliseconds: number): Promise<void> {
  if (milliseconds > 0) await new Promise((resolve) => setTimeout(resolve, milliseconds))
}
