import { expect, it } from 'vitest'
import { buildOwnerKey, combineUserProviders, createUserProviders } from './providers.ts'

const named = (text: string) => ({
  findById: (id: string) => (id === 'gone' ? null : { id, text }),
  findByCredentials: () => ({ id: text }),
})

it('combineUserProviders() finds users by their plain id if there is a single user provider without a name', async () => {
  const users = named('only')
  const providers = createUserProviders(users)
  expect(combineUserProviders(providers)).toBe(users)
  expect(providers.all.map((provider) => buildOwnerKey(provider, 7))).toEqual(['7'])
  expect(providers.locate('a/b')).toMatchObject({ provider: { name: null }, id: 'a/b' })
  expect(providers.require(7)).toBe('7')
})

it('combineUserProviders() finds users only by provider and id if there are several user providers, or one with a name', async () => {
  for (const given of [{ admins: named('admin') }, { a: named('a'), admins: named('admin') }]) {
    const providers = createUserProviders(given)
    const users = combineUserProviders(providers)
    expect(Object.keys(users)).toEqual(['findById'])
    expect(await users.findById('admins/7')).toEqual({ id: '7', text: 'admin' })
    expect(await users.findById('admins/b/c')).toEqual({ id: 'b/c', text: 'admin' })
    expect(await users.findById('admins/gone')).toBe(null)
    for (const key of ['7', '/7', 'admins/', 'admins', 'customers/7', 'Admins/7']) {
      expect(await users.findById(key)).toBe(null)
    }
  }
})
