import type { ApplicationUser, Users } from './users.ts'

/** A user provider: a set of users with their own ids, such as customers or administrators. */
export interface UserProvider {
  /**
   * Name of the provider in the option `users`. `null` if the application has a single provider.
   */
  readonly name: string | null
  /** The application's functions for these users. They receive ids within this provider. */
  readonly users: Users
}

/** The user provider and the user's id that an owner key such as `admins/42` stands for. */
export interface LocatedUser {
  readonly provider: UserProvider
  /** Id of the user within the provider. */
  readonly id: string
}

/**
 * The user providers of the application. Everything that Tollgate stores, signs and compares
 * identifies a user by an owner key: `provider/id`, or the plain id if there is a single provider.
 * So equal ids of two providers never collide.
 */
export interface UserProviders {
  readonly all: readonly UserProvider[]
  /** Finds a provider by name. `null` if there is none. */
  find(name: string): UserProvider | null
  /**
   * Finds the user provider and the user's id for an owner key such as `admins/42`. `null` if the
   * key has the wrong form or names no provider.
   */
  locate(key: string): LocatedUser | null
  /**
   * Checks the owner key (`provider/id`, or the id with a single provider) of a user that the
   * application passed in. Returns it as text.
   * @throws TypeError if there are several providers and the key names none of them
   */
  require(key: string | number): string
}

/** Names contain no slash, so the first slash of an owner key separates provider and id. */
const NAME = /^[a-z][a-z0-9_-]{0,31}$/

export function createUserProviders<User extends ApplicationUser>(
  usersOption: Users<User> | Readonly<Record<string, Users<User>>>,
): UserProviders {
  if (isSingle(usersOption)) {
    const only: UserProvider = { name: null, users: usersOption as Users }
    return {
      all: [only],
      find: () => null,
      locate: (id) => ({ provider: only, id }),
      require: String,
    }
  }
  const byName = new Map<string, UserProvider>()
  for (const [name, users] of Object.entries(usersOption)) {
    if (!NAME.test(name) || typeof users?.findById !== 'function') {
      throw new TypeError(
        `users: '${name}' is not a user provider. Give an object with findById(), or several such objects by name. Names have at most 32 characters: lower-case letters, digits, '-' and '_'.`,
      )
    }
    byName.set(name, { name, users: users as Users })
  }
  if (byName.size === 0) throw new TypeError('users: give at least one user provider.')
  const names = [...byName.keys()].join(', ')

  function locate(key: string): LocatedUser | null {
    const end = key.indexOf('/')
    const provider = byName.get(key.slice(0, Math.max(end, 0)))
    return provider && end + 1 < key.length ? { provider, id: key.slice(end + 1) } : null
  }

  return {
    all: [...byName.values()],
    find: (name) => byName.get(name) ?? null,
    locate,
    require(key) {
      if (locate(String(key))) return String(key)
      throw new TypeError(
        `With several user providers an id is written 'provider/id'. The providers are: ${names}.`,
      )
    },
  }
}

/** Builds the owner key of a user: `provider/id`, or the plain id if there is a single provider. */
export function buildOwnerKey({ name }: UserProvider, id: string | number): string {
  return name === null ? String(id) : `${name}/${id}`
}

/**
 * Whether a client may act for this user. A client without a provider serves the users of every
 * provider.
 */
export function clientServesUser(
  { settings: { provider } }: { readonly settings: { readonly provider?: string } },
  key: string,
  providers: UserProviders,
): boolean {
  return provider === undefined || providers.locate(key)?.provider.name === provider
}

/**
 * Combines the user providers into one that finds users by owner key (`provider/id`). The returned
 * records keep the plain ids. A single provider is returned unchanged.
 */
export function combineUserProviders(providers: UserProviders): Users {
  const [first] = providers.all
  if (first?.name === null) return first.users
  return {
    async findById(key) {
      const found = providers.locate(key)
      return found ? found.provider.users.findById(found.id) : null
    },
  }
}

function isSingle<User extends ApplicationUser>(
  given: Users<User> | Readonly<Record<string, Users<User>>>,
): given is Users<User> {
  return typeof given.findById === 'function'
}
