import { expect } from 'vitest'
import type { TeamRole } from '../../src/teams/roles.ts'
import { newPerson } from '../billing-person.ts'
import type { TestService } from '../support.ts'

export type TeamPerson = Awaited<ReturnType<typeof newPerson>> & { readonly id: string }

/** Creates a signed-in person with a known id. */
export async function newTeamPerson(service: TestService): Promise<TeamPerson> {
  const person = await newPerson(service)
  const account = await service.users.findByEmail(person.email)
  return { ...person, id: account?.id ?? '' }
}

/** Creates a team with a person for each role. */
export async function newTeam(service: TestService, name = 'Acme') {
  const [owner, admin, member, stranger] = [
    await newTeamPerson(service),
    await newTeamPerson(service),
    await newTeamPerson(service),
    await newTeamPerson(service),
  ]
  const location = await owner.done('/teams', { name })
  const [path = ''] = location.split('?')
  const id = path.slice('/teams/'.length)
  await join(service, id, { by: owner, person: admin, role: 'admin' })
  await join(service, id, { by: owner, person: member, role: 'member' })
  return { id, path, owner, admin, member, stranger }
}

/** Invites a person, who accepts. */
export async function join(
  service: TestService,
  id: string,
  {
    by,
    person,
    role,
  }: {
    by: { readonly id: string }
    person: { readonly id: string; readonly email: string }
    role: TeamRole
  },
): Promise<void> {
  const { email } = person
  const { token } = await service.teams.invite(id, { email, role }, { userId: by.id })
  const user = await service.users.findById(person.id)
  if (!user) throw new Error('The person is missing')
  await service.teams.accept(token, user)
}

/** The roles of the members of a team, by user id. */
export async function rolesIn(service: TestService, id: string) {
  const all = await service.teams.members(id)
  return Object.fromEntries(all.map(({ userId, role }) => [userId, role]))
}

/** The token of the link on a page that has just written an invitation. */
export function tokenIn(html: string): string {
  const [, token = ''] = /\/teams\/join\?invitation=([\w-]+)/.exec(html) ?? []
  expect(token).toHaveLength(43)
  return token
}
