import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Map;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.security.oauth2.client.authentication.OAuth2LoginAuthenticationToken;
import org.springframework.security.oauth2.client.endpoint.OAuth2RefreshTokenGrantRequest;
import org.springframework.security.oauth2.client.endpoint.RestClientAuthorizationCodeTokenResponseClient;
import org.springframework.security.oauth2.client.endpoint.RestClientRefreshTokenTokenResponseClient;
import org.springframework.security.oauth2.client.oidc.authentication.OidcAuthorizationCodeAuthenticationProvider;
import org.springframework.security.oauth2.client.oidc.userinfo.OidcUserService;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.client.registration.ClientRegistrations;
import org.springframework.security.oauth2.client.registration.InMemoryClientRegistrationRepository;
import org.springframework.security.oauth2.client.web.DefaultOAuth2AuthorizationRequestResolver;
import org.springframework.security.oauth2.client.web.OAuth2AuthorizationRequestCustomizers;
import org.springframework.security.oauth2.core.endpoint.OAuth2AuthorizationExchange;
import org.springframework.security.oauth2.core.endpoint.OAuth2AuthorizationRequest;
import org.springframework.security.oauth2.core.endpoint.OAuth2AuthorizationResponse;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.web.util.UriComponentsBuilder;
import org.springframework.web.util.UriUtils;

/** Signs in as a Spring Boot application does with oauth2Login() and an `issuer-uri`. */
class SpringClient {
  private final ClientRegistration registration;

  SpringClient(String issuer, Map<?, ?> client) {
    registration = ClientRegistrations.fromIssuerLocation(issuer).registrationId("tollgate")
        .clientId((String) client.get("client_id")).clientSecret((String) client.get("client_secret"))
        .redirectUri((String) client.get("redirect_uri")).scope("openid", "email").build();
  }

  /** Signs in. Optionally uses the callback of another browser's sign-in. */
  void signIn(boolean isAnothers) throws Exception {
    OAuth2AuthorizationRequest mine = begin();
    OAuth2AuthorizationRequest visited = isAnothers ? begin() : mine;
    var exchange = new OAuth2AuthorizationExchange(mine, visit(visited));
    var provider = new OidcAuthorizationCodeAuthenticationProvider(
        new RestClientAuthorizationCodeTokenResponseClient(), new OidcUserService());
    var signedIn = (OAuth2LoginAuthenticationToken) provider
        .authenticate(new OAuth2LoginAuthenticationToken(registration, exchange));
    OidcUser user = (OidcUser) signedIn.getPrincipal();
    if (!"ada@example.com".equals(user.getEmail())) throw new IllegalStateException("another person");
    var refreshed = new RestClientRefreshTokenTokenResponseClient().getTokenResponse(
        new OAuth2RefreshTokenGrantRequest(registration, signedIn.getAccessToken(), signedIn.getRefreshToken()));
    if (refreshed.getAccessToken().getTokenValue().equals(signedIn.getAccessToken().getTokenValue())) {
      throw new IllegalStateException("the same token again");
    }
  }

  private OAuth2AuthorizationRequest begin() {
    var resolver = new DefaultOAuth2AuthorizationRequestResolver(
        new InMemoryClientRegistrationRepository(registration), "/oauth2/authorization");
    resolver.setAuthorizationRequestCustomizer(OAuth2AuthorizationRequestCustomizers.withPkce());
    var request = new MockHttpServletRequest("GET", "/oauth2/authorization/tollgate");
    request.setServletPath("/oauth2/authorization/tollgate");
    return resolver.resolve(request);
  }

  /** Acts as the browser of a signed-in user who has approved before: it is redirected back at once. */
  private OAuth2AuthorizationResponse visit(OAuth2AuthorizationRequest request) throws Exception {
    var asked = HttpRequest.newBuilder(URI.create(request.getAuthorizationRequestUri()))
        .header("accept", "text/html").build();
    var reply = HttpClient.newHttpClient().send(asked, BodyHandlers.ofString());
    String location = reply.headers().firstValue("location").orElseThrow();
    var query = UriComponentsBuilder.fromUriString(location).build().getQueryParams();
    return OAuth2AuthorizationResponse.success(query.getFirst("code"))
        .redirectUri(request.getRedirectUri()).state(UriUtils.decode(query.getFirst("state"), "UTF-8")).build();
  }
}
