import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.type.TypeFactory;
import com.fasterxml.jackson.jakarta.rs.json.JacksonJsonProvider;
import com.fasterxml.jackson.module.jakarta.xmlbind.JakartaXmlBindAnnotationIntrospector;
import eu.europa.esig.dss.cades.signature.CAdESService;
import eu.europa.esig.dss.pades.signature.PAdESService;
import eu.europa.esig.dss.spi.DSSUtils;
import eu.europa.esig.dss.spi.validation.CommonCertificateVerifier;
import eu.europa.esig.dss.spi.x509.CommonTrustedCertificateSource;
import eu.europa.esig.dss.spi.x509.revocation.crl.ExternalResourcesCRLSource;
import eu.europa.esig.dss.spi.x509.tsp.KeyEntityTSPSource;
import eu.europa.esig.dss.ws.signature.common.RemoteDocumentSignatureServiceImpl;
import eu.europa.esig.dss.ws.signature.rest.RestDocumentSignatureServiceImpl;
import eu.europa.esig.dss.ws.timestamp.remote.RemoteTimestampService;
import eu.europa.esig.dss.ws.timestamp.remote.rest.RestTimestampServiceImpl;
import eu.europa.esig.dss.ws.validation.common.RemoteDocumentValidationService;
import eu.europa.esig.dss.ws.validation.rest.RestDocumentValidationServiceImpl;
import java.io.File;
import java.io.FileInputStream;
import java.io.InputStream;
import java.security.KeyStore;
import org.apache.cxf.jaxrs.JAXRSServerFactoryBean;

/** The REST services of EU DSS on loopback, by the paths of its demonstration. Arguments: a folder with ca.der, ca.crl and tsa.p12; a port. */
public class DssTarget {
  private static final char[] PASSWORD = "changeit".toCharArray();

  public static void main(String[] arguments) throws Exception {
    File folder = new File(arguments[0]);
    String base = "http://127.0.0.1:" + arguments[1] + "/services/rest";

    CommonTrustedCertificateSource trusted = new CommonTrustedCertificateSource();
    trusted.addCertificate(DSSUtils.loadCertificate(new File(folder, "ca.der")));
    CommonCertificateVerifier verifier = new CommonCertificateVerifier();
    verifier.setTrustedCertSources(trusted);
    // Nothing is fetched.
    verifier.setAIASource(null);
    verifier.setCrlSource(new ExternalResourcesCRLSource(new FileInputStream(new File(folder, "ca.crl"))));

    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream file = new FileInputStream(new File(folder, "tsa.p12"))) {
      keys.load(file, PASSWORD);
    }
    KeyEntityTSPSource timestamps = new KeyEntityTSPSource(keys, "tsa", PASSWORD);
    timestamps.setTsaPolicy("1.2.3.4.1");

    CAdESService cades = new CAdESService(verifier);
    cades.setTspSource(timestamps);
    PAdESService pades = new PAdESService(verifier);
    pades.setTspSource(timestamps);
    RemoteDocumentSignatureServiceImpl signatures = new RemoteDocumentSignatureServiceImpl();
    signatures.setCadesService(cades);
    signatures.setPadesService(pades);
    RestDocumentSignatureServiceImpl signatureService = new RestDocumentSignatureServiceImpl();
    signatureService.setService(signatures);
    serve(base + "/signature/one-document", signatureService);

    RemoteTimestampService remoteTimestamps = new RemoteTimestampService();
    remoteTimestamps.setTSPSource(timestamps);
    RestTimestampServiceImpl timestampService = new RestTimestampServiceImpl();
    timestampService.setTimestampService(remoteTimestamps);
    serve(base + "/timestamp-service", timestampService);

    RemoteDocumentValidationService validation = new RemoteDocumentValidationService();
    validation.setVerifier(verifier);
    RestDocumentValidationServiceImpl validationService = new RestDocumentValidationServiceImpl();
    validationService.setValidationService(validation);
    serve(base + "/validation", validationService);

    System.out.println("ready");
    Thread.currentThread().join();
  }

  private static void serve(String address, Object service) {
    ObjectMapper mapper = new ObjectMapper();
    mapper.setAnnotationIntrospector(new JakartaXmlBindAnnotationIntrospector(TypeFactory.defaultInstance(), true));
    mapper.setSerializationInclusion(JsonInclude.Include.NON_NULL);
    JacksonJsonProvider json = new JacksonJsonProvider();
    json.setMapper(mapper);
    JAXRSServerFactoryBean server = new JAXRSServerFactoryBean();
    server.setAddress(address);
    server.setServiceBean(service);
    server.setProvider(json);
    server.create();
  }
}
