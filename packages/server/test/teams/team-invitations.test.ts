import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ServiceMail } from '../../src/config/shapes.ts'
import { startTestService, type TestService } from '../support.ts'
import { newTeamPerson, rolesIn, type TeamPerson, tokenIn } from './team-people.ts'

let service: TestService
const mails: ServiceMail[] = []
let fault: (() => Promise<void>) | null = null
beforeAll(async () => {
  const send = async (mail: ServiceMail) => {
    await fault?.()
    mails.push(mail)
  }
  service = await startTestService({ settings: { teams: true, name: 'Shop', mail: { send } } })
})
beforeEach(() => {
  fault = null
  mails.length = 0
  // Limits count per day.
  service.clock.advance({ hours: 25 })
})
afterAll(() => service?.stop())

let addresses = 0
const newAddress = () => `invited-${++addresses}@example.com`

async function verify({ id }: TeamPerson) {
  await service.database.kysely
    .updateTable('users')
    .set({ email_verified_at: service.clock.now().getTime() })
    .where('id', '=', Number(id))
    .execute()
}

/** A team whose owner has a verified address. */
async function newVerifiedTeam(name = 'Acme') {
  const owner = await newTeamPerson(service)
  await verify(owner)
  const [path = ''] = (await owner.done('/teams', { name })).split('?')
  return { owner, path, id: path.slice('/teams/'.length) }
}

type Team = Awaited<ReturnType<typeof newVerifiedTeam>>

async function invite({ owner, path }: Team, email: string, role = 'member') {
  const response = await owner.post(`${path}/invite`, { email, role })
  return { status: response.status, html: await response.text() }
}

async function mailTo(email: string): Promise<ServiceMail[]> {
  await service.recovery.process()
  return mails.filter(({ to, kind }) => to === email && kind === 'team_invitation')
}

const linkIn = ({ text }: ServiceMail) => {
  const [, path] = /(\/teams\/join\?invitation=[\w-]{43})/.exec(text) ?? []
  if (!path) throw new Error('The mail has no link')
  return path
}

const accept = (person: TeamPerson, link: string) =>
  person.post('/teams/join', { invitation: link.split('=')[1] ?? '' })

describe('an invitation to a team, if the service sends mail,', () => {
  it('is sent to the invited address, and its link asks before the person joins', async () => {
    const team = await newVerifiedTeam('<b>You won</b>')
    const invited = await newTeamPerson(service)
    const { status, html } = await invite(team, invited.email)
    expect(status).toBe(200)
    expect(html).toContain('We have sent')
    expect(html).not.toContain('/teams/join')
    const [mail, ...others] = await mailTo(invited.email)
    expect(others).toEqual([])
    if (!mail) throw new Error('No mail was sent')
    expect(mail.subject).toBe('Your invitation to a team at Shop')
    expect(mail.text).toContain(`${team.owner.email} invites you`)
    expect(mail.text).toContain('7 days')
    expect(`${mail.subject}${mail.text}${mail.html}`).not.toContain('You won')
    const link = linkIn(mail)
    expect(mail.html).toContain(link)
    const page = await invited.browser.get(link)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<button')])
    expect(await rolesIn(service, team.id)).not.toHaveProperty(invited.id)
    expect((await accept(invited, link)).status).toBe(303)
    expect(await rolesIn(service, team.id)).toHaveProperty(invited.id, 'member')
    expect((await accept(invited, link)).status).toBe(404)
  })

  it('is in the language of the invited account', async () => {
    const team = await newVerifiedTeam()
    const invited = await newTeamPerson(service)
    await service.database.kysely
      .updateTable('users')
      .set({ locale: 'de' })
      .where('id', '=', Number(invited.id))
      .execute()
    await invite(team, invited.email)
    const [mail] = await mailTo(invited.email)
    expect(mail?.subject).toBe('Ihre Einladung in ein Team bei Shop')
    expect(mail?.locale).toBe('de')
  })

  it('is stored without its token', async () => {
    const team = await newVerifiedTeam()
    const email = newAddress()
    await invite(team, email)
    const [mail] = await mailTo(email)
    const token = mail ? (linkIn(mail).split('=')[1] ?? '') : ''
    expect(token).toHaveLength(43)
    const stored = await service.database.kysely.selectFrom('account_mails').selectAll().execute()
    const rows = await service.database.kysely.selectFrom('team_invitations').selectAll().execute()
    expect(JSON.stringify([stored, rows])).not.toContain(token)
  })

  it('works for the invited address only, even if the mail was forwarded', async () => {
    const team = await newVerifiedTeam()
    const email = newAddress()
    await invite(team, email)
    const [mail] = await mailTo(email)
    const link = mail ? linkIn(mail) : ''
    const stranger = await newTeamPerson(service)
    const page = await stranger.browser.get(link)
    expect([page.status, await page.text()]).toEqual([404, expect.not.stringContaining('Acme')])
    expect((await accept(stranger, link)).status).toBe(404)
    expect(await rolesIn(service, team.id)).not.toHaveProperty(stranger.id)
    const signedOut = await service.browser().get(link)
    expect(signedOut.headers.get('location')).toContain('/login?return_to=')
  })

  it('has one valid link after two invitations of the same address at once', async () => {
    const team = await newVerifiedTeam()
    const invited = await newTeamPerson(service)
    const made = await Promise.all([invite(team, invited.email), invite(team, invited.email)])
    expect(made.map(({ status }) => status)).toEqual([200, 200])
    const links = (await mailTo(invited.email)).map(linkIn)
    expect(links.length).toBeGreaterThan(0)
    const pages = await Promise.all(links.map((link) => invited.browser.get(link)))
    expect(pages.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await service.teams.invitations(team.id)).toHaveLength(1)
  })

  it('is not sent any more if it was withdrawn while the mail server was away', async () => {
    const team = await newVerifiedTeam()
    const [withdrawn, kept] = [newAddress(), newAddress()]
    fault = () => Promise.reject(new Error('The mail server is away'))
    await invite(team, withdrawn)
    await invite(team, kept)
    expect(await mailTo(withdrawn)).toEqual([])
    const open = await service.teams.invitations(team.id)
    const { id = '' } = open.find(({ email }) => email === withdrawn) ?? {}
    await team.owner.done(`${team.path}/withdraw`, { invitation: id })
    fault = null
    service.clock.advance({ hours: 1 })
    expect(await mailTo(kept)).toHaveLength(1)
    expect(await mailTo(withdrawn)).toEqual([])
    const left = await service.database.kysely
      .selectFrom('account_mails')
      .select('address')
      .where('address', '=', withdrawn)
      .execute()
    expect(left).toEqual([])
  })

  it('stops working when it is withdrawn after it was sent', async () => {
    const team = await newVerifiedTeam()
    const invited = await newTeamPerson(service)
    await invite(team, invited.email)
    const [mail] = await mailTo(invited.email)
    const [open] = await service.teams.invitations(team.id)
    await team.owner.done(`${team.path}/withdraw`, { invitation: open?.id ?? '' })
    expect((await accept(invited, mail ? linkIn(mail) : '')).status).toBe(404)
    expect(await rolesIn(service, team.id)).not.toHaveProperty(invited.id)
  })

  it('leaves no mail behind if it is refused', async () => {
    const team = await newVerifiedTeam()
    const { status } = await invite(team, team.owner.email)
    expect(status).toBe(422)
    expect((await invite(team, 'nobody')).status).toBe(422)
    expect(await mailTo(team.owner.email)).toEqual([])
    const waiting = await service.database.kysely
      .selectFrom('account_mails')
      .select('id')
      .where('address', 'in', [team.owner.email, 'nobody'])
      .execute()
    expect(waiting).toEqual([])
  })

  it('shows the link instead of sending mail if the address of the inviting person is not verified', async () => {
    const owner = await newTeamPerson(service)
    const [path = ''] = (await owner.done('/teams', { name: 'Acme' })).split('?')
    const email = newAddress()
    const { html } = await invite({ owner, path, id: '' }, email)
    expect(tokenIn(html)).toHaveLength(43)
    expect(await mailTo(email)).toEqual([])
  })

  it('sends at most five mails a day to one address, also with parts after a plus sign, and then shows links (threat N8)', async () => {
    const victim = newAddress()
    const [first, second] = [await newVerifiedTeam(), await newVerifiedTeam()]
    const pages: string[] = []
    for (let at = 0; at < 4; at += 1) {
      for (const team of [first, second]) {
        pages.push((await invite(team, victim.replace('@', `+${at}@`))).html)
      }
    }
    await service.recovery.process()
    expect(mails.filter(({ kind }) => kind === 'team_invitation')).toHaveLength(5)
    expect(pages.slice(5).map((html) => tokenIn(html).length)).toEqual([43, 43, 43])
    service.clock.advance({ hours: 25 })
    expect((await invite(first, victim)).html).toContain('We have sent')
  })

  it('sends at most 50 mails a day for one account (threat N8)', async () => {
    const team = await newVerifiedTeam()
    const allowed = await Promise.all(
      Array.from({ length: 55 }, () => service.limits.countInvitation(newAddress(), team.owner.id)),
    )
    expect(allowed.filter(Boolean)).toHaveLength(50)
    const email = newAddress()
    expect(tokenIn((await invite(team, email)).html)).toHaveLength(43)
    expect(await mailTo(email)).toEqual([])
  })
})
