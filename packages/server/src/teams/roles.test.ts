import { describe, expect, it } from 'vitest'
import { mayAct, parseTeamRole, TEAM_ROLES, type TeamAct, type TeamRole } from './roles.ts'

/** The roles that may do each act in the team, without a target. */
const ACTS: Readonly<Record<TeamAct, readonly TeamRole[]>> = {
  see: ['member', 'admin', 'owner'],
  leave: ['member', 'admin', 'owner'],
  bill: ['admin', 'owner'],
  rename: ['admin', 'owner'],
  invite: ['admin', 'owner'],
  withdraw: ['admin', 'owner'],
  remove: ['admin', 'owner'],
  setRole: ['owner'],
  handOver: ['owner'],
  delete: ['owner'],
}
const acts = Object.keys(ACTS) as TeamAct[]

/** The targets that a person with a role may act on, if the act itself is allowed. */
const TARGETS: Readonly<Record<TeamRole, readonly TeamRole[]>> = {
  member: [],
  admin: ['member'],
  owner: ['member', 'admin', 'owner'],
}

describe('the rule that says who may do what in a team (threat N10)', () => {
  it.each(acts)('allows "%s" to the listed roles only', (act) => {
    expect(TEAM_ROLES.filter((role) => mayAct(role, act))).toEqual(ACTS[act])
  })

  it('allows nothing to people outside of the team', () => {
    for (const act of acts) {
      for (const target of [undefined, ...TEAM_ROLES]) {
        expect([act, target, mayAct(null, act, target)]).toEqual([act, target, false])
      }
    }
  })

  it('allows acts only on members with a lower role, except that owners may act on owners', () => {
    for (const act of acts) {
      for (const role of ACTS[act]) {
        const allowed = TEAM_ROLES.filter((target) => mayAct(role, act, target))
        expect([act, role, allowed]).toEqual([act, role, TARGETS[role]])
      }
    }
  })

  it.each([null, undefined, '', 'Owner', 'owner ', '__proto__', 'superuser'])(
    'gives no power to the unknown role %j',
    (text) => {
      expect(parseTeamRole(text)).toBeNull()
    },
  )
})
