// The standard scopes, and every claim that they contain.

export const SCOPES = ['openid', 'profile', 'email', 'address', 'phone', 'offline_access']

export const claimsOf = (email) => ({
  name: 'Ada King Lovelace',
  given_name: 'Ada',
  family_name: 'Lovelace',
  middle_name: 'King',
  nickname: 'Ada',
  preferred_username: 'ada',
  profile: 'https://example.com/ada',
  picture: 'https://example.com/ada.png',
  website: 'https://example.com',
  gender: 'female',
  birthdate: '1985-12-10',
  zoneinfo: 'Europe/London',
  locale: 'en-GB',
  updated_at: 1_767_225_600,
  email,
  email_verified: true,
  address: { country: 'United Kingdom', locality: 'London' },
  phone_number: '+44 20 7946 0000',
  phone_number_verified: true,
})
