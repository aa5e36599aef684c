import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '@tollgate/oauth'
import { type SqlBool, sql } from 'kysely'
import { deleteTeamData } from '../storage/personal-data.ts'
import {
  deleteInBatches,
  type ServiceDatabase,
  teamInvitationTable,
  teamMemberTable,
  teamTable,
} from '../storage/tables.ts'
import { emailKey, isEmail, isPrintableName } from '../users/parse.ts'
import type { User } from '../users/user.ts'
import { mayAct, parseTeamRole, type TeamAct, type TeamRole } from './roles.ts'
import {
  type Team,
  type TeamInvitation,
  type TeamMember,
  type TeamMembership,
  TeamRefused,
  teamFromRow,
} from './team.ts'

/** The member who acts, by user id, or an operator, whom the roles of the team do not bind. */
export type TeamActor = { readonly userId: string } | 'operator'

/** Filters and position of a page of teams. */
export interface TeamPage {
  /** Only teams that this person is a member of. */
  readonly userId?: string | undefined
  /** Only the team with this id, or those with this text in their name, ignoring case. */
  readonly search?: string | undefined
  /** Only teams that were created before this one. `null` begins with the newest. */
  readonly before: string | null
  readonly limit: number
}

/** Teams, their members and invitations. Every change checks the rule in `roles.ts` again. */
export interface TeamMemberships {
  /**
   * Creates a team with its first owner.
   * @throws TeamRefused
   */
  create(name: string, owner: User): Promise<Team>
  /** Finds a team, also one that is being deleted. */
  find(teamId: string): Promise<Team | null>
  /** Finds a team as its member sees it. `null` for people outside of the team. */
  findMembership(teamId: string, userId: string): Promise<TeamMembership | null>
  /** Lists the teams of a person, the oldest first. */
  listOf(userId: string): Promise<TeamMembership[]>
  /**
   * Lists teams by page, newest first. A search examines a limited number of teams, so its page may
   * have fewer teams than `limit` although `next` is not null.
   */
  page(
    request: TeamPage,
  ): Promise<{ readonly teams: readonly Team[]; readonly next: string | null }>
  /** Lists the members of a team, those who joined first at the top. */
  members(teamId: string): Promise<TeamMember[]>
  countMembers(teamId: string): Promise<number>
  invitations(teamId: string): Promise<TeamInvitation[]>
  rename(teamId: string, name: string, by: TeamActor): Promise<void>
  /**
   * Invites the account with this address, which may not exist yet. Replaces an earlier invitation
   * of the address. The token is returned only here; `token` may give one of 32 random bytes.
   * @throws TeamRefused
   */
  invite(
    teamId: string,
    invited: { readonly email: string; readonly role: TeamRole },
    by: { readonly userId: string },
    token?: string,
  ): Promise<{ readonly token: string; readonly invitation: TeamInvitation }>
  withdraw(teamId: string, invitationId: string, by: TeamActor): Promise<void>
  /** Whether a token belongs to an invitation that is open, in a team that is not being deleted. */
  isOpenInvitation(token: string): Promise<boolean>
  /**
   * Finds the invitation of a token for the account that it was written for.
   * @throws TeamRefused if it is unknown, used or expired, or was written for another address.
   */
  findInvitation(token: string, user: User): Promise<TeamMembership>
  /**
   * Makes the person a member. Of several calls with the same token, one succeeds.
   * @throws TeamRefused
   */
  accept(token: string, user: User): Promise<Team>
  /**
   * Changes the role of a member.
   * @throws TeamRefused
   */
  setRole(teamId: string, userId: string, role: TeamRole, by: TeamActor): Promise<void>
  /**
   * Makes another member an owner, and the present owner an admin.
   * @throws TeamRefused
   */
  handOver(teamId: string, userId: string, by: { readonly userId: string }): Promise<void>
  /**
   * Ends a membership; a member who removes themselves leaves. Withdraws the invitations that the
   * member has written, and one for the member's own address.
   * @throws TeamRefused
   */
  remove(teamId: string, userId: string, by: TeamActor): Promise<void>
  /** Hides the team from its members while it is deleted: for ten minutes at most. */
  close(teamId: string): Promise<void>
  /** Shows the team to its members again. */
  reopen(teamId: string): Promise<void>
  /** Deletes a team with its members and invitations. Its subscriptions must have ended. */
  delete(teamId: string): Promise<void>
  /** Deletes expired invitations. Returns their number. */
  purge(): Promise<number>
}

const DAY = 24 * 3600 * 1000
export const INVITATION_DAYS = 7
/** Maximum number of members and open invitations of a team together. */
export const MAX_TEAM_PEOPLE = 500
/** Maximum number of teams that a person may own. */
export const MAX_OWNED_TEAMS = 20
const MAX_NAME_LENGTH = 100
/** Maximum number of teams that are examined for one page of a search. */
const SEARCHED_TEAMS = 10_000
/** A deletion that was interrupted no longer hides the team. */
const MAX_CLOSED = 10 * 60 * 1000
const TOKEN = /^[\w-]{43}$/
const USER_ID = /^[1-9]\d{0,14}$/

type Tx = ServiceDatabase

/**
 * Creates the store of teams. Changes run one at a time across all processes, so that they see each
 * other.
 */
export function createTeamMemberships(options: {
  readonly database: ServiceDatabase
  readonly clock: Clock
}): TeamMemberships {
  const { clock, database } = options
  const change = <T>(work: (tx: Tx) => Promise<T>) => database.exclusively('teams', work)

  async function findMembership(
    teamId: string,
    userId: string,
    on: Tx = database,
  ): Promise<TeamMembership | null> {
    if (!USER_ID.test(userId)) return null
    const row = await on.kysely
      .selectFrom('team_members')
      .innerJoin('teams', 'teams.id', 'team_members.team_id')
      .selectAll('teams')
      .select('team_members.role')
      .where('team_members.team_id', '=', teamId)
      .where('team_members.user_id', '=', Number(userId))
      .executeTakeFirst()
    const role = parseTeamRole(row?.role)
    return row && role && isOpen(row.closed_at) ? { team: teamFromRow(row), role } : null
  }

  const isOpen = (closedAt: number | null) =>
    closedAt === null || closedAt < clock.now().getTime() - MAX_CLOSED

  async function members(teamId: string, on: Tx = database): Promise<TeamMember[]> {
    const rows = await on.kysely
      .selectFrom('team_members')
      .innerJoin('users', 'users.id', 'team_members.user_id')
      .select([
        'users.id',
        'users.email',
        'users.name',
        'users.disabled_at',
        'team_members.role',
        'team_members.joined_at',
      ])
      .where('team_members.team_id', '=', teamId)
      .orderBy('team_members.joined_at')
      .orderBy('users.id')
      .execute()
    return rows.map((row) => ({
      userId: String(row.id),
      email: row.email,
      name: row.name,
      role: parseTeamRole(row.role) ?? 'member',
      isDisabled: row.disabled_at !== null,
      joinedAt: new Date(row.joined_at),
    }))
  }

  async function invitations(teamId: string, on: Tx = database): Promise<TeamInvitation[]> {
    const rows = await on.kysely
      .selectFrom('team_invitations')
      .selectAll()
      .where('team_id', '=', teamId)
      .where('expires_at', '>', clock.now().getTime())
      .orderBy('created_at')
      .orderBy('id_hash')
      .execute()
    return rows.map((row) => {
      const { idHash: id, email, role, expiresAt } = teamInvitationTable.fromRow(row)
      return { id, email, role: parseTeamRole(role) ?? 'member', expiresAt }
    })
  }

  /** @throws TeamRefused unless the actor may do it. */
  async function requireMay(
    tx: Tx,
    teamId: string,
    by: TeamActor,
    act: TeamAct,
    targets: readonly TeamRole[] = [],
  ): Promise<void> {
    if (by === 'operator') return
    const membership = await findMembership(teamId, by.userId, tx)
    const role = membership?.role ?? null
    const isAllowed = mayAct(role, act) && targets.every((target) => mayAct(role, act, target))
    if (!isAllowed) throw new TeamRefused('forbidden')
  }

  async function requireMember(tx: Tx, teamId: string, userId: string): Promise<TeamMember> {
    const found = (await members(teamId, tx)).find((each) => each.userId === userId)
    if (!found) throw new TeamRefused('notMember')
    return found
  }

  /** @throws TeamRefused if no other owner could sign in. */
  async function requireOtherOwner(tx: Tx, teamId: string, userId: string): Promise<void> {
    const all = await members(teamId, tx)
    const others = all.filter((each) => each.userId !== userId)
    if (!others.some(({ role, isDisabled }) => role === 'owner' && !isDisabled)) {
      throw new TeamRefused('lastOwner')
    }
  }

  async function writeRole(tx: Tx, teamId: string, userId: string, role: TeamRole) {
    await tx.kysely
      .updateTable('team_members')
      .set({ role })
      .where('team_id', '=', teamId)
      .where('user_id', '=', Number(userId))
      .execute()
  }

  /** Withdraws what a member has written who may no longer write it. */
  async function withdrawInvitationsBy(tx: Tx, teamId: string, userId: string) {
    await tx.kysely
      .deleteFrom('team_invitations')
      .where('team_id', '=', teamId)
      .where('invited_by', '=', Number(userId))
      .execute()
  }

  /** Keeps the team's address that of an owner, because it gets the mail about payments. */
  async function updateEmail(tx: Tx, teamId: string) {
    const owners = (await members(teamId, tx)).filter(({ role }) => role === 'owner')
    const team = await tx.kysely
      .selectFrom('teams')
      .select('email')
      .where('id', '=', teamId)
      .executeTakeFirst()
    const heir = owners.find(({ isDisabled }) => !isDisabled) ?? owners[0]
    if (!team || !heir || owners.some(({ email }) => email === team.email)) return
    await tx.kysely
      .updateTable('teams')
      .set({ email: heir.email })
      .where('id', '=', teamId)
      .execute()
  }

  /** Finds an open invitation with its team. */
  async function findOpenInvitation(tx: Tx, token: string) {
    const idHash = TOKEN.test(token) ? sha256(token) : ''
    const row = await tx.kysely
      .selectFrom('team_invitations')
      .selectAll()
      .where('id_hash', '=', idHash)
      .where('expires_at', '>', clock.now().getTime())
      .executeTakeFirst()
    const team = row && (await findRow(tx, row.team_id))
    return row && team && isOpen(team.closed_at) ? { row, team } : null
  }

  /** @throws TeamRefused unless a valid invitation was written for the person. */
  async function requireInvitation(tx: Tx, token: string, user: User) {
    const found = await findOpenInvitation(tx, token)
    if (!found) throw new TeamRefused('invitation')
    const { row, team } = found
    if (row.email_key !== emailKey(user.email)) throw new TeamRefused('otherAddress')
    return { row, team: teamFromRow(team), role: parseTeamRole(row.role) ?? 'member' }
  }

  const findRow = (on: Tx, teamId: string) =>
    on.kysely.selectFrom('teams').selectAll().where('id', '=', teamId).executeTakeFirst()

  async function addMember(tx: Tx, teamId: string, userId: string, role: TeamRole) {
    const joinedAt = clock.now()
    const row = teamMemberTable.toRow({ teamId, userId: Number(userId), role, joinedAt })
    await tx.kysely.insertInto('team_members').values(row).execute()
  }

  const setClosed = async (teamId: string, closedAt: number | null) => {
    await database.kysely
      .updateTable('teams')
      .set({ closed_at: closedAt })
      .where('id', '=', teamId)
      .execute()
  }

  return {
    async create(given, owner) {
      const name = parseTeamName(given)
      const createdAt = clock.now()
      const id = newId(createdAt)
      const row = teamTable.toRow({ id, name, email: owner.email, createdAt, closedAt: null })
      return change(async (tx) => {
        const owned = await tx.kysely
          .selectFrom('team_members')
          .select('team_id')
          .where('user_id', '=', Number(owner.id))
          .where('role', '=', 'owner')
          .execute()
        if (owned.length >= MAX_OWNED_TEAMS) throw new TeamRefused('tooMany')
        await tx.kysely.insertInto('teams').values(row).execute()
        await addMember(tx, id, owner.id, 'owner')
        return teamFromRow(row)
      })
    },
    async find(teamId) {
      const row = await findRow(database, teamId)
      return row ? teamFromRow(row) : null
    },
    findMembership: (teamId, userId) => findMembership(teamId, userId),
    async listOf(userId) {
      const rows = await database.kysely
        .selectFrom('team_members')
        .innerJoin('teams', 'teams.id', 'team_members.team_id')
        .selectAll('teams')
        .select('team_members.role')
        .where('team_members.user_id', '=', Number(userId))
        .orderBy('teams.id')
        .execute()
      return rows.flatMap((row) => {
        const role = parseTeamRole(row.role)
        return role && isOpen(row.closed_at) ? [{ team: teamFromRow(row), role }] : []
      })
    },
    async page({ userId, search, before, limit }) {
      const named = search !== undefined && before === null ? await findRow(database, search) : null
      if (named) return { teams: [teamFromRow(named)], next: null }
      const end = search === undefined ? null : await findSearchEnd(database, before)
      const base = database.kysely.selectFrom('teams').selectAll('teams')
      let query =
        userId === undefined
          ? base.orderBy('teams.id', 'desc')
          : base
              .innerJoin('team_members', 'team_members.team_id', 'teams.id')
              .where('team_members.user_id', '=', Number(userId))
              .orderBy('team_members.team_id', 'desc')
      const id = userId === undefined ? 'teams.id' : 'team_members.team_id'
      if (before !== null) query = query.where(sql.ref(id), '<', before)
      if (end !== null) query = query.where(sql.ref(id), '>=', end)
      if (search !== undefined) query = query.where(hasName(search))
      const rows = await query.limit(limit + 1).execute()
      const teams = rows.slice(0, limit).map(teamFromRow)
      return { teams, next: rows.length > limit ? (teams.at(-1)?.id ?? null) : end }
    },
    members: (teamId) => members(teamId),
    countMembers: async (teamId) => (await members(teamId)).length,
    invitations: (teamId) => invitations(teamId),
    rename: (teamId, given, by) =>
      change(async (tx) => {
        await requireMay(tx, teamId, by, 'rename')
        const name = parseTeamName(given)
        await tx.kysely.updateTable('teams').set({ name }).where('id', '=', teamId).execute()
      }),
    invite: (teamId, invited, by, token = randomBytes(32).toString('base64url')) =>
      change(async (tx) => {
        const { role } = invited
        await requireMay(tx, teamId, by, 'invite', [role])
        const email = invited.email.trim()
        if (!isEmail(email)) throw new TeamRefused('email')
        const key = emailKey(email)
        const present = await members(teamId, tx)
        if (present.some((each) => emailKey(each.email) === key)) {
          throw new TeamRefused('alreadyMember')
        }
        const open = await invitations(teamId, tx)
        const others = open.filter((each) => emailKey(each.email) !== key)
        // An admin would otherwise take back what an owner has offered.
        const replaced = open.filter((each) => !others.includes(each))
        await requireMay(
          tx,
          teamId,
          by,
          'invite',
          replaced.map((each) => each.role),
        )
        if (present.length + others.length >= MAX_TEAM_PEOPLE) throw new TeamRefused('full')
        await tx.kysely
          .deleteFrom('team_invitations')
          .where('team_id', '=', teamId)
          .where('email_key', '=', key)
          .execute()
        const createdAt = clock.now()
        const expiresAt = new Date(createdAt.getTime() + INVITATION_DAYS * DAY)
        const id = sha256(token)
        const row = teamInvitationTable.toRow({
          idHash: id,
          teamId,
          email,
          emailKey: key,
          role,
          invitedBy: Number(by.userId),
          createdAt,
          expiresAt,
        })
        await tx.kysely.insertInto('team_invitations').values(row).execute()
        return { token, invitation: { id, email, role, expiresAt } }
      }),
    withdraw: (teamId, invitationId, by) =>
      change(async (tx) => {
        const found = (await invitations(teamId, tx)).find(({ id }) => id === invitationId)
        await requireMay(tx, teamId, by, 'withdraw', found ? [found.role] : [])
        await tx.kysely
          .deleteFrom('team_invitations')
          .where('team_id', '=', teamId)
          .where('id_hash', '=', invitationId)
          .execute()
      }),
    isOpenInvitation: async (token) => (await findOpenInvitation(database, token)) !== null,
    async findInvitation(token, user) {
      const { team, role } = await requireInvitation(database, token, user)
      return { team, role }
    },
    accept: (token, user) =>
      change(async (tx) => {
        const { row, team, role } = await requireInvitation(tx, token, user)
        await tx.kysely.deleteFrom('team_invitations').where('id_hash', '=', row.id_hash).execute()
        if (!(await findMembership(team.id, user.id, tx))) {
          await addMember(tx, team.id, user.id, role)
        }
        return team
      }),
    setRole: (teamId, userId, role, by) =>
      change(async (tx) => {
        await requireMay(tx, teamId, by, 'setRole')
        const member = await requireMember(tx, teamId, userId)
        await requireMay(tx, teamId, by, 'setRole', [member.role, role])
        if (member.role === role) return
        if (member.role === 'owner') await requireOtherOwner(tx, teamId, userId)
        await writeRole(tx, teamId, userId, role)
        await withdrawInvitationsBy(tx, teamId, userId)
        await updateEmail(tx, teamId)
      }),
    handOver: (teamId, userId, by) =>
      change(async (tx) => {
        await requireMay(tx, teamId, by, 'handOver')
        const member = await requireMember(tx, teamId, userId)
        if (member.isDisabled || member.userId === by.userId) throw new TeamRefused('notMember')
        await writeRole(tx, teamId, userId, 'owner')
        await writeRole(tx, teamId, by.userId, 'admin')
        await withdrawInvitationsBy(tx, teamId, by.userId)
        await updateEmail(tx, teamId)
      }),
    remove: (teamId, userId, by) =>
      change(async (tx) => {
        const isLeaving = by !== 'operator' && by.userId === userId
        await requireMay(tx, teamId, by, isLeaving ? 'leave' : 'remove')
        const member = await requireMember(tx, teamId, userId)
        if (!isLeaving) await requireMay(tx, teamId, by, 'remove', [member.role])
        if (member.role === 'owner') await requireOtherOwner(tx, teamId, userId)
        await tx.kysely
          .deleteFrom('team_members')
          .where('team_id', '=', teamId)
          .where('user_id', '=', Number(userId))
          .execute()
        await withdrawInvitationsBy(tx, teamId, userId)
        await tx.kysely
          .deleteFrom('team_invitations')
          .where('team_id', '=', teamId)
          .where('email_key', '=', emailKey(member.email))
          .execute()
        await updateEmail(tx, teamId)
      }),
    close: (teamId) => setClosed(teamId, clock.now().getTime()),
    reopen: (teamId) => setClosed(teamId, null),
    delete: (teamId) =>
      change(async (tx) => {
        for (const table of ['team_invitations', 'team_members'] as const) {
          await tx.kysely.deleteFrom(table).where('team_id', '=', teamId).execute()
        }
        await tx.kysely.deleteFrom('teams').where('id', '=', teamId).execute()
        await deleteTeamData(tx, teamId)
      }),
    purge: () =>
      deleteInBatches(database, {
        table: 'team_invitations',
        key: 'id_hash',
        where: (eb) => eb('expires_at', '<=', (clock.settled?.() ?? clock.now()).getTime()),
      }),
  }
}

/** Condition on the name. SQLite changes the case of ASCII letters only, hence both. */
function hasName(search: string) {
  const pattern = (text: string) => `%${text.replace(/[!%_]/g, '!$&')}%`
  return sql<SqlBool>`(teams.name like ${pattern(search)} escape '!' or lower(teams.name) like ${pattern(search.toLowerCase())} escape '!')`
}

/** Returns the last id that a search examines. `null` if it examines all teams that are left. */
async function findSearchEnd({ kysely }: Tx, before: string | null): Promise<string | null> {
  let query = kysely.selectFrom('teams').select('id').orderBy('id', 'desc')
  if (before !== null) query = query.where('id', '<', before)
  const [last] = await query.limit(1).offset(SEARCHED_TEAMS).execute()
  return last?.id ?? null
}

/** @throws TeamRefused */
function parseTeamName(given: string): string {
  const name = given.trim()
  if (name === '' || name.length > MAX_NAME_LENGTH || !isPrintableName(name)) {
    throw new TeamRefused('name')
  }
  return name
}

/** Creates an id that sorts by time and cannot be guessed. */
function newId(at: Date): string {
  const time = Math.max(at.getTime(), 0).toString(36).padStart(9, '0')
  return `${time}${randomBytes(8).toString('hex')}`
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
