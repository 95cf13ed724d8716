// What HdrHistogram's own library (2.1) reads of an interval log: for each tag a line of JSON with how many values there are, the greatest, and the
// median and the 99th percentile, over the histograms of all of its lines added up.
//   java -cp hdrhistogram.jar ReadHlog.java FILE
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.EncodableHistogram;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

public final class ReadHlog {
    private static final class Tagged {
        final Histogram values;
        int lines;
        double startSeconds = Double.MAX_VALUE;
        double endSeconds;

        /** As fine as those that are added: one that tells apart more puts what they do not into its lower half. */
        Tagged(Histogram of) {
            values = new Histogram(of);
            values.setAutoResize(true);
        }
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Tagged> byTag = new TreeMap<>();
        try (HistogramLogReader reader = new HistogramLogReader(arguments[0])) {
            while (reader.hasNext()) {
                EncodableHistogram read = reader.nextIntervalHistogram();
                if (!(read instanceof Histogram)) {
                    throw new IllegalStateException("a line of " + arguments[0] + " has no histogram of whole numbers");
                }
                Tagged tagged = byTag.computeIfAbsent(read.getTag(), tag -> new Tagged((Histogram) read));
                tagged.values.add((Histogram) read);
                tagged.lines += 1;
                tagged.startSeconds = Math.min(tagged.startSeconds, read.getStartTimeStamp() / 1e3);
                tagged.endSeconds = Math.max(tagged.endSeconds, read.getEndTimeStamp() / 1e3);
            }
        }
        byTag.forEach((tag, of) -> System.out.printf(
            "{\"tag\":\"%s\",\"lines\":%d,\"start_s\":%.3f,\"end_s\":%.3f,\"count\":%d,\"max_ns\":%d,\"p50_ns\":%d,\"p99_ns\":%d}%n",
            tag, of.lines, of.startSeconds, of.endSeconds, of.values.getTotalCount(), of.values.getMaxValue(),
            of.values.getValueAtPercentile(50), of.values.getValueAtPercentile(99)));
    }
}
